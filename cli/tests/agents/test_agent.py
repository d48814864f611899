"""Every tool, as the official client of the protocol meets it. It checks answers against the schemas itself.

Started by `python.rs`, in a workspace with recordings, a grammar and a library.
"""

import asyncio
import os
import subprocess

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

COMMAND = os.environ["METASPY_TEST_COMMAND"]


def content_of(result):
    """The structured content, under the name of this version of the client."""
    return getattr(result, "structured_content", None) or getattr(result, "structuredContent", None)


def is_error(result):
    return bool(getattr(result, "is_error", None) or getattr(result, "isError", None))


async def main():
    story = subprocess.Popen(
        [COMMAND, "__story", "page.html"],
        env={**os.environ, "METASPY_RECORD": "live"},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    arguments = ["mcp", "--allow-run", "cargo metaspy *"]
    server = StdioServerParameters(command=COMMAND, args=arguments, env=dict(os.environ), cwd=os.getcwd())
    try:
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            hello = await session.initialize()
            assert "never instructions" in hello.instructions, hello
            await every_tool(session)
            await woven(session)
            await live(session, str(story.pid))
    finally:
        story.kill()
        story.wait()
    print("all agreed")


async def ask(session, tool, **arguments):
    result = await session.call_tool(tool, arguments)
    assert not is_error(result), (tool, arguments, result)
    assert result.content[0].text, (tool, result)
    return content_of(result)


async def every_tool(session):
    tools = {tool.name: tool for tool in (await session.list_tools()).tools}
    assert {"recordings", "findings", "explain", "rows", "event", "causes", "effects", "compare", "expect", "source", "run"} <= set(tools)
    names = [it["name"] for it in (await ask(session, "recordings"))["recordings"]]
    assert {"demo.spy", "run.spy", "grammar.spy"} <= set(names), names
    for recording in ["demo.spy", "run.spy", "grammar.spy"]:
        findings = await ask(session, "findings", recording=recording, all=True)
        assert findings["calls"] > 0, findings
        rows = await ask(session, "rows", recording=recording, sort="self")
        assert rows["rows"], rows
        event = (await ask(session, "event", recording=recording, order="slowest"))["events"][0]
        one = await ask(session, "event", recording=recording, id=event["id"])
        assert one["events"][0]["more"]["file"], one
        await ask(session, "causes", recording=recording, id=event["id"])
        await ask(session, "effects", recording=recording, id=event["id"])
        await ask(session, "expect", recording=recording, expectation=f"site:{event['site']} => took:>=0ns")
    await ask(session, "compare", before="demo.spy", after="demo.spy")
    await ask(session, "explain", kind="repeated")
    source = await ask(session, "source", recording="run.spy", site="Scene::measure")
    assert source["lines"], source
    wrong = await session.call_tool("rows", {"recording": "rum.spy"})
    assert is_error(wrong) and "run.spy" in wrong.content[0].text, wrong
    resources = (await session.list_resources()).resources
    assert len(resources) >= 3, resources
    read = await session.read_resource(resources[0].uri)
    assert "calls" in read.contents[0].text, read
    prompts = (await session.list_prompts()).prompts
    prompt = await session.get_prompt(prompts[0].name, {})
    assert "findings" in prompt.messages[0].content.text, prompt


async def woven(session):
    told = []

    async def tell(progress, total, message):
        told.append(progress)

    command = ["cargo", "metaspy", "test", "--offline", "--lib", "--contexts", "--types"]
    result = await session.call_tool("run", {"command": command}, progress_callback=tell)
    made = content_of(result)
    assert not is_error(result) and made["exit_code"] == 0, result
    assert told and told == sorted(set(told)), told
    [run] = made["new_recordings"]
    rows = await ask(session, "rows", recording=run, filter="site:woven::double")
    assert rows["rows"][0]["calls"] == 1, rows
    contexts = await ask(session, "rows", recording=run, by="context")
    assert any(row["name"] == "woven::double" for row in contexts["rows"]), contexts
    arrived = await ask(session, "rows", recording=run, by="arrived")
    assert {"name": "u32", "site": "woven::double", "calls": 1}.items() <= arrived["rows"][0].items(), arrived
    source = await ask(session, "source", recording=run, site="woven::double", around=0)
    assert source["lines"][0] == "pub fn double(n: u32) -> u32 {", source


async def live(session, pid):
    for _ in range(600):
        names = [it["name"] for it in (await ask(session, "recordings"))["recordings"]]
        if pid in names and (await ask(session, "rows", recording=pid))["calls"] > 0:
            break
        await asyncio.sleep(0.05)
    rows = await ask(session, "rows", recording=pid)
    assert rows["calls"] > 0, rows
    await ask(session, "findings", recording=pid, kind="repeated")


asyncio.run(main())
