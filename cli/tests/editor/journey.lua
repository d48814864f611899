-- A journey through a file of the library in a real Neovim. It writes what a user sees to $METASPY_TEST_RESULT as JSON.
local seen = {}
local space = vim.api.nvim_create_namespace("metaspy")

local function wait(what, condition)
  if not vim.wait(60000, condition, 20) then
    error("waited in vain for " .. what)
  end
end

-- Line, sign as it is on the screen, and text of each function.
local function marks()
  local found = {}
  vim.cmd("redraw")
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })) do
    local details = mark[4]
    local text = details.virt_text and vim.trim(details.virt_text[1][1]) or ""
    local row = vim.fn.screenpos(0, mark[2] + 1, 1).row
    table.insert(found, { mark[2] + 1, row > 0 and vim.fn.screenstring(row, 1) or "", text })
  end
  return found
end

-- Waits for the answer to a command, which is drawn later.
local function after(what, change, condition)
  change()
  wait(what, function()
    return condition(marks())
  end)
  return marks()
end

local function text_of(mark)
  return mark and mark[3] or ""
end

local function journey()
  vim.o.lines = 60
  vim.cmd("edit " .. vim.env.METASPY_TEST_FILE)
  seen.first = after("numbers", function() end, function(found)
    return #found > 0
  end)
  wait("the hint", function()
    return #vim.diagnostic.get(0) > 0
  end)
  seen.hints = vim.tbl_map(function(hint)
    return { hint.lnum + 1, hint.message:match("^never ran") }
  end, vim.tbl_filter(function(hint)
    -- Findings have a code.
    return not hint.code
  end, vim.diagnostic.get(0)))

  -- Marks move with their lines at once.
  vim.api.nvim_buf_set_lines(0, 0, 0, false, { "// One more line." })
  seen.moved = marks()[1][1]
  -- An edited function is marked.
  local line = vim.fn.search("a \\* b")
  seen.stale = after("the mark of an edit", function()
    vim.fn.setline(line, "    b * a")
    vim.cmd("doautocmd TextChanged")
  end, function(found)
    return text_of(found[4]):find("earlier code") ~= nil
  end)[4]

  seen.metric = after("the metric", function()
    vim.cmd("MetaspyMetric total-time")
  end, function(found)
    return text_of(found[1]):find("s · 7 calls") ~= nil
  end)[1][3]

  local function list(command)
    vim.fn.setloclist(0, {}, "r", { items = {} })
    local window = vim.api.nvim_get_current_win()
    vim.cmd(command)
    wait(command, function()
      return #vim.fn.getloclist(window) > 0
    end)
    local items = vim.tbl_map(function(item)
      return { item.lnum, item.text }
    end, vim.fn.getloclist(window))
    vim.cmd("lclose")
    vim.api.nvim_set_current_win(window)
    return items
  end
  vim.fn.search("fn area(&self) -> u64 {")
  seen.callers = list("MetaspyCallers")
  seen.callees = list("MetaspyCallees")
  seen.hot = list("MetaspyHot")

  vim.fn.search("shape.area")
  vim.fn.search("area")
  vim.cmd("MetaspyHover")
  local float
  wait("the hover", function()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(window).relative ~= "" then
        float = window
      end
    end
    return float ~= nil
  end)
  seen.hover = table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(float), 0, -1, false), "\n")
  vim.api.nvim_win_close(float, true)

  vim.cmd("MetaspyToggle")
  wait("the end of signs", function()
    return #marks() == 0
  end)
  seen.hidden = true
end

local ok, problem = xpcall(journey, debug.traceback)
seen.problem = not ok and problem or nil
local file = assert(io.open(vim.env.METASPY_TEST_RESULT, "w"))
file:write(vim.json and vim.json.encode(seen) or vim.fn.json_encode(seen))
file:close()
vim.cmd("qall!")
