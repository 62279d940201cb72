// Lets a prompt go back in the session's tree, which otherwise takes a terminal.
export default function (pi) {
  pi.registerCommand("rewind", {
    description: "Goes back to an entry",
    handler: async (entry, context) => {
      await context.navigateTree(entry.trim(), { summarize: true });
    },
  });
}
