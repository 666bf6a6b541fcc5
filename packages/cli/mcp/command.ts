import type { Command } from 'commander'
import type { LazyAction } from '../lazy-action.ts'

/** Declares `wheelhouse mcp`: the platform's MCP server for clients that start a server as a process. */
export function addMcp(program: Command, lazyAction: LazyAction): void {
  program
    .command('mcp')
    .description("serve the platform's MCP server on standard input and output, signed in as you")
    .action(lazyAction(() => import('./mcp.ts')))
}
