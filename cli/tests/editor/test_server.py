"""The server as an independent client meets it, with the capabilities of several editors.

Started by `editors.rs`, with the command and the recorded library in the environment.
"""

import os
import pathlib

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

FOLDER = pathlib.Path(os.environ["METASPY_TEST_FOLDER"])
FILE = FOLDER / "src" / "lib.rs"
SOURCE = FILE.read_text(encoding="utf-8")
DOCUMENT = types.TextDocumentIdentifier(uri=FILE.as_uri())


@pytest_lsp.fixture(
    params=["visual-studio-code@v1.65.2", "neovim@v0.6.1", "neovim@v0.11.0", "emacs@v29.1"],
    config=ClientServerConfig(server_command=[os.environ["METASPY_TEST_COMMAND"], "lsp"]),
)
async def client(request, lsp_client: LanguageClient):
    folder = types.WorkspaceFolder(uri=FOLDER.as_uri(), name="library")
    parameters = types.InitializeParams(
        capabilities=client_capabilities(request.param), root_uri=FOLDER.as_uri(), workspace_folders=[folder]
    )

    # What the server sends of itself.
    @lsp_client.feature(types.WORKSPACE_CODE_LENS_REFRESH)
    def refresh(*_):
        return None

    @lsp_client.feature("metaspy/changed")
    def changed(*_):
        return None

    result = await lsp_client.initialize_session(parameters)
    assert result.server_info.name == "metaspy"
    item = types.TextDocumentItem(uri=FILE.as_uri(), language_id="rust", version=1, text=SOURCE)
    lsp_client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
    # The first hints are sent when the recording has been read.
    while not lsp_client.diagnostics.get(FILE.as_uri()):
        await lsp_client.wait_for_notification("textDocument/publishDiagnostics")
    yield
    await lsp_client.shutdown_session()


def place(line: str, part: str) -> types.Position:
    number = next(at for at, text in enumerate(SOURCE.splitlines()) if line in text)
    before = SOURCE.splitlines()[number].split(part)[0]
    return types.Position(line=number, character=len(before.encode("utf-16-le")) // 2)


@pytest.mark.asyncio
async def test_a_hover_shows_what_a_call_really_invoked(client: LanguageClient):
    parameters = types.HoverParams(text_document=DOCUMENT, position=place("shape.area()", "area()"))
    hover = await client.text_document_hover_async(parameters)
    assert "called" in hover.contents.value and "10 times" in hover.contents.value
    nothing = types.HoverParams(text_document=DOCUMENT, position=types.Position(line=0, character=0))
    assert await client.text_document_hover_async(nothing) is None


@pytest.mark.asyncio
async def test_lenses_and_symbols_have_numbers(client: LanguageClient):
    lenses = await client.text_document_code_lens_async(types.CodeLensParams(text_document=DOCUMENT))
    titles = [lens.command.title for lens in lenses]
    assert len(titles) == 5 and "7 calls" in titles[0] and titles[2] == "never ran"
    symbols = await client.text_document_document_symbol_async(types.DocumentSymbolParams(text_document=DOCUMENT))
    assert "Square::Shape::area" in [symbol.name for symbol in symbols]


@pytest.mark.asyncio
async def test_a_function_that_never_ran_has_a_hint(client: LanguageClient):
    (hint,) = client.diagnostics[FILE.as_uri()]
    assert hint.severity == types.DiagnosticSeverity.Hint and hint.message.startswith("never ran")
    assert hint.range.start.line == place("fn scale", "scale").line


@pytest.mark.asyncio
async def test_a_command_that_is_unknown_is_an_error(client: LanguageClient):
    with pytest.raises(Exception, match="metaspy.pick"):
        await client.workspace_execute_command_async(types.ExecuteCommandParams(command="metaspy.nothing"))
