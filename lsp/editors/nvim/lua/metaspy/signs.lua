-- Signs in the gutter (a bar of 1 to 6, coloured by class) and numbers behind functions.
local M = {}

local space = vim.api.nvim_create_namespace("metaspy")
local is_shown = true

-- By class: 0 is zero, 1 few, 2 several, 3 many.
local groups = { [0] = "MetaspyNever", "MetaspyFew", "MetaspySeveral", "MetaspyMany" }
local links = {
  MetaspyNever = "Comment",
  MetaspyFew = "DiagnosticInfo",
  MetaspySeveral = "DiagnosticWarn",
  MetaspyMany = "DiagnosticError",
  MetaspyText = "Comment",
}
local function define()
  for name, target in pairs(links) do
    vim.api.nvim_set_hl(0, name, { link = target, default = true })
  end
end
define()
vim.api.nvim_create_autocmd("ColorScheme", { callback = define })

local function draw(buffer, heat)
  local options = require("metaspy").options
  vim.api.nvim_buf_clear_namespace(buffer, space, 0, -1)
  if not is_shown or type(heat) ~= "table" then
    return
  end
  local lines = vim.api.nvim_buf_line_count(buffer)
  -- Older versions show the text of the hint that a function never ran.
  local has_hints = vim.fn.has("nvim-0.11") == 0
  for _, of in ipairs(heat.functions) do
    local line = of.range.start.line
    if line < lines then
      local group = of.stale and "MetaspyNever" or groups[of.class]
      local mark = { priority = 6 }
      if options.signs then
        mark.sign_text = of.bar .. (of.stale and "?" or "")
        mark.sign_hl_group = group
      end
      if options.text and not (has_hints and of.text == "never ran") then
        mark.virt_text = { { "  " .. of.text, "MetaspyText" } }
        mark.virt_text_pos = "eol"
      end
      vim.api.nvim_buf_set_extmark(buffer, space, line, 0, mark)
    end
  end
end

-- Draws a buffer again.
function M.refresh(buffer)
  local metaspy = require("metaspy")
  if not vim.api.nvim_buf_is_loaded(buffer) or #metaspy.clients(buffer) == 0 then
    return
  end
  local params = { textDocument = vim.lsp.util.make_text_document_params(buffer) }
  metaspy.request(buffer, "metaspy/heat", params, function(heat)
    if vim.api.nvim_buf_is_loaded(buffer) then
      draw(buffer, heat)
    end
  end)
end

-- Draws all buffers of a client again.
function M.refresh_client(id)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.lsp.buf_is_attached(buffer, id) then
      M.refresh(buffer)
    end
  end
end

-- Shows or hides everything.
function M.toggle()
  is_shown = not is_shown
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    M.refresh(buffer)
  end
end

return M
