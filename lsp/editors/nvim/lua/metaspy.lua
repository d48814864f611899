-- The client of `metaspy lsp`. It runs beside rust-analyzer and replaces nothing.
local M = {}

-- The program that installed this plugin.
local installed = "METASPY_PROGRAM"

-- Clients of newer versions are objects.
local has_methods = vim.fn.has("nvim-0.11") == 1

-- The options of `setup`. `settings` are those of the server (docs/editor.md).
M.options = {
  program = nil,
  -- Numbers behind the first line of each function.
  text = true,
  -- The signs in the gutter.
  signs = true,
  settings = {},
}

-- Changes options: require("metaspy").setup({ settings = { metric = "self-time" } })
function M.setup(options)
  M.options = vim.tbl_deep_extend("force", M.options, options or {})
  for _, client in ipairs(M.clients()) do
    local changed = { settings = { metaspy = M.settings() } }
    if has_methods then
      client:notify("workspace/didChangeConfiguration", changed)
    else
      client.notify("workspace/didChangeConfiguration", changed)
    end
  end
end

-- The settings of the server. The plugin draws numbers itself, so lenses are off, and a float of an older version shows
-- the addresses of links.
function M.settings()
  local own = { lenses = false, links = vim.fn.has("nvim-0.10") == 1 }
  return vim.tbl_deep_extend("force", own, M.options.settings)
end

function M.program()
  local chosen = M.options.program or installed
  return vim.fn.executable(chosen) == 1 and chosen or "metaspy"
end

-- The clients of all workspaces, or of a buffer.
function M.clients(buffer)
  local all = {}
  local known = vim.lsp.get_clients and vim.lsp.get_clients() or vim.lsp.get_active_clients()
  for _, client in ipairs(known) do
    local is_attached = not buffer or vim.lsp.buf_is_attached(buffer, client.id)
    if client.name == "metaspy" and is_attached then
      table.insert(all, client)
    end
  end
  return all
end

-- The workspace of a file: where its Cargo.lock is.
local function root_of(file)
  local dir = vim.fn.fnamemodify(file, ":h")
  local function above(name)
    local found = vim.fn.findfile(name, vim.fn.escape(dir, " ,;") .. ";")
    return found ~= "" and vim.fn.fnamemodify(found, ":p:h") or nil
  end
  return above("Cargo.lock") or above("Cargo.toml") or dir
end

-- Sources of dependencies are shown by the workspace that was used last.
local function is_dependency(file)
  return file:find("/registry/src/", 1, true) or file:find("/git/checkouts/", 1, true)
end

local function start(root)
  local signs = require("metaspy.signs")
  local config = {
    name = "metaspy",
    cmd = { M.program(), "lsp" },
    root_dir = root,
    workspace_folders = { { uri = vim.uri_from_fname(root), name = vim.fn.fnamemodify(root, ":t") } },
    init_options = M.settings(),
    handlers = {
      ["metaspy/changed"] = function(_, _, context)
        signs.refresh_client(context.client_id)
      end,
    },
  }
  if has_methods then
    local function never()
      return false
    end
    return vim.lsp.start(config, { attach = false, reuse_client = never })
  end
  return vim.lsp.start_client(config)
end

-- Attaches the server to a buffer.
function M.attach(buffer)
  local file = vim.api.nvim_buf_get_name(buffer)
  if file == "" or vim.bo[buffer].buftype ~= "" then
    return
  end
  if vim.fn.executable(M.program()) == 0 then
    vim.notify_once("metaspy is not in PATH: cargo install metaspy-cli", vim.log.levels.WARN)
    return
  end
  local clients, id = M.clients(), nil
  local root = root_of(file)
  for _, client in ipairs(clients) do
    if client.config.root_dir == root or is_dependency(file) then
      id = client.id
    end
  end
  id = id or start(root)
  if id then
    vim.lsp.buf_attach_client(buffer, id)
    require("metaspy.signs").refresh(buffer)
  end
end

-- Sends a request about a buffer, and calls back with its result.
function M.request(buffer, method, params, callback)
  local client = M.clients(buffer)[1]
  if not client then
    vim.notify("metaspy is not attached to this buffer", vim.log.levels.WARN)
    return
  end
  local handler = function(error, result)
    if error then
      vim.notify("metaspy: " .. error.message, vim.log.levels.ERROR)
    else
      callback(result, client)
    end
  end
  if has_methods then
    client:request(method, params, handler, buffer)
  else
    client.request(method, params, handler, buffer)
  end
end

function M.execute(name, arguments, callback)
  local params = { command = name, arguments = arguments }
  M.request(0, "workspace/executeCommand", params, callback or function() end)
end

-- Shows another metric.
function M.metric(name)
  M.execute("metaspy.metric", { name })
end

return M
