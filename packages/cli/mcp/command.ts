import type { Command } from 'commander'
import type { Running } from '../commands.ts'

/** `wheelhouse mcp`: the platform's MCP server for programs that start theirs as a process. */
export function addMcp(program: Command, running: Running): void {
  program
    .command('mcp')
    .description("the platform's MCP server on standard input and output, signed in as you")
    .action(running(() => import('./mcp.ts')))
}
