-- Lists and windows: runs, callers and callees, hot functions, hovers, pictures.
local M = {}

local function metaspy()
  return require("metaspy")
end

local function document()
  return vim.lsp.util.make_text_document_params(0)
end

local function here(client)
  local encoding = client and client.offset_encoding or "utf-16"
  return vim.lsp.util.make_position_params(0, encoding)
end

-- 1,234,567
local function grouped(number)
  local digits = string.format("%d", number)
  return (digits:reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", ""))
end

local function open(title, items, missing)
  if #items == 0 then
    vim.notify("metaspy: " .. title .. ": none recorded. " .. missing)
    return
  end
  vim.fn.setloclist(0, {}, " ", { title = "metaspy: " .. title, items = items })
  vim.cmd("lopen")
end

-- Chooses runs: by their names, or from a list.
function M.runs(names)
  if #names > 0 then
    metaspy().execute("metaspy.pick", names)
    return
  end
  metaspy().request(0, "metaspy/runs", vim.empty_dict(), function(result)
    local choices = { { id = "newest", label = "the newest run" }, { id = "all", label = "all runs, as one" } }
    vim.list_extend(choices, result.runs)
    local format = function(run)
      local state = run.live and " (running)" or ""
      local count = run.recordings and (", " .. #run.recordings .. " processes") or ""
      return (run.picked and "* " or "  ") .. run.id .. "  " .. run.label .. count .. state
    end
    vim.ui.select(choices, { prompt = "Runs to show", format_item = format }, function(run)
      if run then
        metaspy().execute("metaspy.pick", { run.id })
      end
    end)
  end)
end

-- Lists the callers or the callees of the function around the cursor.
function M.edges(direction)
  local client = metaspy().clients(0)[1]
  metaspy().request(0, "metaspy/edges", here(client), function(edges)
    local items = {}
    for _, edge in ipairs(type(edges) == "table" and edges or {}) do
      if edge.direction == direction then
        local known = type(edge.uri) == "string"
        table.insert(items, {
          filename = known and vim.uri_to_fname(edge.uri) or nil,
          lnum = known and edge.range.start.line + 1 or nil,
          text = grouped(edge.calls) .. "  " .. (type(edge.name) == "string" and edge.name or "code without hooks"),
        })
      end
    end
    open(direction .. "s", items, "Callers and callees need cargo metaspy test --timed")
  end)
end

-- Lists the functions of the file, the hottest first.
function M.hot()
  metaspy().request(0, "metaspy/heat", { textDocument = document() }, function(heat)
    local functions = type(heat) == "table" and heat.functions or {}
    local function value(of)
      return type(of.value) == "number" and of.value or 0
    end
    table.sort(functions, function(a, b)
      return value(a) > value(b)
    end)
    local items = {}
    for _, of in ipairs(functions) do
      local text = of.text .. "  " .. of.name
      table.insert(items, { bufnr = vim.api.nvim_get_current_buf(), lnum = of.range.start.line + 1, text = text })
    end
    open("functions of this file", items, "Run cargo metaspy test in its workspace")
  end)
end

-- Shows the hover of metaspy alone. Older versions show only one of several hovers.
function M.hover()
  local client = metaspy().clients(0)[1]
  metaspy().request(0, "textDocument/hover", here(client), function(result)
    if type(result) ~= "table" then
      vim.notify("metaspy: nothing was recorded of what is under the cursor")
      return
    end
    local lines = vim.split(result.contents.value, "\n", { plain = true })
    vim.lsp.util.open_floating_preview(lines, "markdown", { focus_id = "metaspy" })
  end)
end

-- Calls back with the recordings that are shown.
local function recordings(callback)
  metaspy().request(0, "metaspy/runs", vim.empty_dict(), function(result)
    local files = {}
    for _, run in ipairs(result.runs) do
      if run.picked then
        vim.list_extend(files, run.recordings)
      end
    end
    if #files == 0 then
      vim.notify("metaspy: there is no recording yet; run cargo metaspy test")
    else
      callback(files)
    end
  end)
end

-- Draws a picture, and opens it in the browser.
function M.blueprint(kind)
  recordings(function(files)
    local page = vim.fn.tempname() .. ".html"
    local command = vim.list_extend({ metaspy().program(), "blueprint", kind }, files)
    vim.list_extend(command, { "--html", page, "--open" })
    vim.fn.jobstart(command, {
      stderr_buffered = true,
      on_stderr = function(_, lines)
        vim.notify(table.concat(lines, "\n"))
      end,
    })
  end)
end

-- Opens the crawler in a terminal window.
function M.crawler()
  recordings(function(files)
    vim.cmd("botright new")
    local command = vim.list_extend({ metaspy().program(), "open" }, files)
    if vim.fn.has("nvim-0.11") == 1 then
      vim.fn.jobstart(command, { term = true })
    else
      vim.fn.termopen(command)
    end
    vim.cmd("startinsert")
  end)
end

return M
