import type { Command } from 'commander'
import type { LazyAction } from '../lazy-action.ts'
import { parseTime } from '../option-parsers.ts'

/** Declares `wheelhouse keys …`: API keys, which require a browser sign-in. */
export function addKeys(program: Command, lazyAction: LazyAction): void {
  const keys = program.command('keys').description('your API keys; requires a browser sign-in')
  keys
    .command('list')
    .description('list your API keys, newest first')
    .option('--all', 'also revoked and expired keys')
    .action(lazyAction(() => import('./list.ts')))
  keys
    .command('create')
    .description('create an API key and show it, only this once')
    .argument('<name>', 'purpose of the key')
    .option('--expires <time>', 'such as +90d or 2027-01-01 (default: never)', parseTime)
    .action(lazyAction(() => import('./create.ts')))
  keys
    .command('revoke')
    .description('revoke an API key; it stops working at once, everywhere')
    .argument('<key>', 'its id, a prefix of the id, or its name')
    .action(lazyAction(() => import('./revoke.ts')))
}
