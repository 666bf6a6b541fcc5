import type { Command } from 'commander'
import type { LazyAction } from '../lazy-action.ts'

/** `wheelhouse mcp`: the platform's MCP server for programs that start theirs as a process. */
export function addMcp(program: Command, lazyAction: LazyAction): void {
  program
    .command('mcp')
    .description("the platform's MCP server on standard input and output, signed in as you")
    .action(lazyAction(() => import('./mcp.ts')))
}
