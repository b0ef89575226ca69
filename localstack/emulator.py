"""Runs MiniStack, the emulator of AWS, in the one version that Mash is tested against, with what had to be adjusted in it.

Each adjustment replaces one thing inside of MiniStack, says why, and first looks whether that thing is what it was made
for: otherwise nothing starts. For the same reason every other version is refused.
"""

import asyncio
import contextvars
import functools
import importlib.metadata
import inspect
import json
import socket
import socketserver
import sys
import threading

MADE_FOR = "1.5.33"


def expect(holds: bool, what: str) -> None:
    if not holds:
        sys.exit(f"localstack/emulator.py: {what} in MiniStack {MADE_FOR} is not what is adjusted here")


def send_at_once() -> None:
    """The Runtime API, from which a function fetches its events, writes headers and body apart. Nagle's algorithm holds
    the second write back until the first is acknowledged, which takes 40 ms a call. What a listening socket is set to,
    the accepted ones inherit."""
    from ministack.core import lambda_runtime

    expect("socketserver.ThreadingTCPServer" in inspect.getsource(lambda_runtime.ProvidedWorker._spawn),
           "the server of the Runtime API")
    bind = socketserver.TCPServer.server_bind

    def server_bind(self):
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        bind(self)

    socketserver.TCPServer.server_bind = server_bind


def wait_less_for_logs() -> None:
    """After each call MiniStack waits up to 50 ms for a first line that the function might log, so that it stands in the
    log of this call. 2 ms are enough for a process on the same machine; a later line stands in the next call's log."""
    from ministack.core import lambda_runtime

    drain = lambda_runtime.Worker._drain_stderr_bounded
    expect(list(inspect.signature(drain).parameters) == ["self", "first_line_wait", "idle_confirm", "hard_cap"]
           and drain.__defaults__ == (0.050, 0.005, 0.250), "the wait for a function's log")
    drain.__defaults__ = (0.002, 0.001, 0.250)


def take_partial_failures() -> None:
    """A function on a stream says in batchItemFailures which records it could not deal with, and AWS sends the batch again
    from there on. MiniStack would lose them; here the whole batch comes again, as it does after an error, which is more
    than AWS sends and never less. A null there means none, for queues too, where MiniStack stumbles over it."""
    from ministack.services import lambda_svc

    execute, poll = lambda_svc._execute_function, lambda_svc._poll_dynamodb_streams
    expect("result = _execute_function(func_rec, event)" in inspect.getsource(poll)
           and "result = _execute_function(func_rec, event)" in inspect.getsource(lambda_svc._run_sqs_batch),
           "how batches reach a function")
    polling = threading.local()

    def reports_failures(func: dict) -> bool:
        name = (func.get("config") or func).get("FunctionName")
        return any(esm.get("FunctionName") == name and "ReportBatchItemFailures" in (esm.get("FunctionResponseTypes") or [])
                   for _, _, esm in lambda_svc._iter_all_esms())

    @functools.wraps(execute)
    def execute_function(func, event):
        result = execute(func, event)
        if result.get("error") or not isinstance(event, dict) or "Records" not in event:
            return result
        answer = result.get("body")
        if isinstance(answer, dict) and "batchItemFailures" in answer:
            failures = answer["batchItemFailures"] = answer["batchItemFailures"] or []
            if failures and getattr(polling, "streams", False) and reports_failures(func):
                why = {"errorType": "BatchItemFailures", "errorMessage": json.dumps(failures)}
                return {**result, "error": True, "body": why}
        return result

    @functools.wraps(poll)
    def poll_streams():
        polling.streams = True
        try:
            return poll()
        finally:
            polling.streams = False

    lambda_svc._execute_function, lambda_svc._poll_dynamodb_streams = execute_function, poll_streams


def take_crowds() -> None:
    """A hundred connections may wait to be accepted. When many functions start at once there are more, and what the kernel
    drops then seems connected to the client, which waits for an answer until its time is up."""
    from hypercorn.config import Config

    expect(getattr(Config, "backlog", None) == 100, "the queue of connections")
    Config.backlog = 4096


def keep_stage_in_path() -> None:
    """An HTTP API of AWS hands over the path of a request as it came, with the name of its stage where that has one in
    its address. MiniStack takes the name away."""
    from ministack.services import apigateway

    invoke = apigateway._invoke_lambda_proxy
    expect(list(inspect.signature(invoke).parameters)[:4] == ["integration", "api_id", "stage", "path"]
           and inspect.getsource(invoke).count('path,') == 3 and '"rawPath": path' in inspect.getsource(invoke),
           "how a path reaches a function")

    @functools.wraps(invoke)
    def invoke_lambda_proxy(integration, api_id, stage, path, *args, **kwargs):
        if stage != "$default":
            path = f"/{stage}{path}"
        return invoke(integration, api_id, stage, path, *args, **kwargs)

    apigateway._invoke_lambda_proxy = invoke_lambda_proxy


def hand_on_streams() -> None:
    """A function URL of the mode RESPONSE_STREAM hands on what the function writes, chunk by chunk. MiniStack reads the
    answer to its end first, so that whoever holds a stream would hear nothing before it is over. Here the chunks that the
    function posts go to the client as they come, once the status and the header have, which stand before them."""
    from ministack.core import lambda_runtime
    from ministack.core.responses import StreamingResponse
    from ministack.services import lambda_svc

    worker, handle = lambda_runtime.ProvidedWorker, lambda_svc.handle_function_url_request
    invoke, build = worker.invoke, worker._build_handler_class
    expect(list(inspect.signature(invoke).parameters)[:3] == ["self", "event", "request_id"]
           and "def _read_body(self):" in inspect.getsource(build)
           and "await run_reentrant(_execute_function_with_config_scope" in inspect.getsource(handle)
           and lambda_svc._STREAM_PRELUDE_SEPARATOR == bytes(8), "how a function URL calls its function")
    outlet = contextvars.ContextVar("outlet", default=None)  # of the request that a thread works for

    @functools.wraps(invoke)
    def invoke_with_outlet(self, event, request_id, **kwargs):
        self.outlet = (request_id, outlet.get())
        return invoke(self, event, request_id, **kwargs)

    def build_handler_class(self, generation, pending):
        class Handler(build(self, generation, pending)):
            def _read_body(handler):
                request_id, hand_on = getattr(self, "outlet", (None, None))
                # What aws-lambda-go says of a stream: it has no header of its own for that.
                streams = handler.headers.get("Content-Type") == "application/vnd.awslambda.http-integration-response"
                if not (hand_on and streams and f"/{request_id}/" in handler.path):
                    return super()._read_body()
                while size := int(handler.rfile.readline().strip(), 16):
                    hand_on(handler.rfile.read(size))
                    handler.rfile.readline()
                while handler.rfile.readline().strip():
                    pass  # the trailer of a stream that broke off
                hand_on(None)
                return b"{}"

        return Handler

    async def begin(chunks, whole):
        """Returns what came first, with status and header whole, or nothing for an answer that is no stream."""
        begun = b""
        while bytes(8) not in begun:
            chunk = asyncio.ensure_future(chunks.get())
            await asyncio.wait({whole, chunk}, return_when=asyncio.FIRST_COMPLETED)
            if not chunk.done() or chunk.result() is None:
                chunk.cancel()
                return None
            begun += chunk.result()
        return begun

    @functools.wraps(handle)
    async def handle_function_url_request(url_id, *args, resolved=None, **kwargs):
        resolved = resolved or lambda_svc.resolve_function_url(url_id)
        if resolved is None or resolved[4].get("InvokeMode") != "RESPONSE_STREAM":
            return await handle(url_id, *args, resolved=resolved, **kwargs)
        loop, chunks = asyncio.get_running_loop(), asyncio.Queue()
        outlet.set(lambda chunk: loop.call_soon_threadsafe(chunks.put_nowait, chunk))
        whole = asyncio.ensure_future(handle(url_id, *args, resolved=resolved, **kwargs))
        begun = await begin(chunks, whole)
        if begun is None:
            return await whole
        status, headers, chunk = lambda_svc._function_url_stream_response({"body": begun}, {})

        async def run(send, _receive):
            sent = chunk
            while sent is not None:
                await send({"type": "http.response.body", "body": sent, "more_body": True})
                sent = await chunks.get()
            await send({"type": "http.response.body", "body": b"", "more_body": False})

        return status, headers, StreamingResponse(run)

    worker.invoke, worker._build_handler_class = invoke_with_outlet, build_handler_class
    lambda_svc.handle_function_url_request = handle_function_url_request


def main() -> None:
    found = importlib.metadata.version("ministack")
    if found != MADE_FOR:
        sys.exit(f"localstack/emulator.py is made for MiniStack {MADE_FOR} and found {found}")
    send_at_once()
    wait_less_for_logs()
    take_partial_failures()
    take_crowds()
    keep_stage_in_path()
    hand_on_streams()
    from ministack.app import main as serve

    serve()


if __name__ == "__main__":
    main()
