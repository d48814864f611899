-- Starts the language server of metaspy for Rust files, and defines its commands.
if vim.g.loaded_metaspy or vim.fn.has("nvim-0.7") == 0 then
  return
end
vim.g.loaded_metaspy = true

local group = vim.api.nvim_create_augroup("metaspy", { clear = true })
vim.api.nvim_create_autocmd("FileType", {
  group = group,
  pattern = "rust",
  callback = function(event)
    require("metaspy").attach(event.buf)
  end,
})
-- Lines move while a file is edited, and signs move with them. What was edited is marked when the typing ends.
vim.api.nvim_create_autocmd({ "InsertLeave", "TextChanged", "BufWinEnter" }, {
  group = group,
  pattern = "*.rs",
  callback = function(event)
    require("metaspy.signs").refresh(event.buf)
  end,
})

local function words(list)
  return function(lead)
    return vim.tbl_filter(function(word)
      return vim.startswith(word, lead)
    end, list)
  end
end

local command = vim.api.nvim_create_user_command
local metrics = {
  "calls",
  "self-time",
  "total-time",
  "time-per-call",
  "receivers",
  "allocations",
  "memory",
  "instructions",
  "allocations-per-call",
  "memory-per-call",
  "instructions-per-call",
}
command("MetaspyMetric", function(options)
  require("metaspy").metric(options.args)
end, { nargs = 1, complete = words(metrics), desc = "Shows this metric as heat" })
command("MetaspyRuns", function(options)
  require("metaspy.lists").runs(options.fargs)
end, { nargs = "*", complete = words({ "newest", "all" }), desc = "Chooses the runs that are shown" })
command("MetaspyEmpty", function()
  require("metaspy").execute("metaspy.empty", {})
end, { desc = "Removes the runs that cargo metaspy has kept" })
command("MetaspyHover", function()
  require("metaspy.lists").hover()
end, { desc = "Shows what was recorded of the function, call or type under the cursor" })
command("MetaspyCallers", function()
  require("metaspy.lists").edges("caller")
end, { desc = "Lists the callers of this function" })
command("MetaspyCallees", function()
  require("metaspy.lists").edges("callee")
end, { desc = "Lists the functions that this function called" })
command("MetaspyHot", function()
  require("metaspy.lists").hot()
end, { desc = "Lists the functions of this file, the hottest first" })
command("MetaspyToggle", function()
  require("metaspy.signs").toggle()
end, { desc = "Shows or hides signs and numbers" })
command("MetaspyBlueprint", function(options)
  require("metaspy.lists").blueprint(options.args ~= "" and options.args or "structural")
end, { nargs = "?", complete = words({ "structural", "behavioural", "coverage" }), desc = "Draws the runs in a browser" })
command("MetaspyCrawler", function()
  require("metaspy.lists").crawler()
end, { desc = "Opens the runs in the event crawler" })
