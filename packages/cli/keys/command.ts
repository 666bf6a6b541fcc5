import type { Command } from 'commander'
import type { LazyAction } from '../lazy-action.ts'
import { parseTime } from '../option-parsers.ts'

/** `wheelhouse keys …`: API keys, for somebody signed in in the browser. */
export function addKeys(program: Command, lazyAction: LazyAction): void {
  const keys = program.command('keys').description('your API keys; needs a sign-in in the browser')
  keys
    .command('list')
    .description('list your API keys, newest first')
    .option('--all', 'also those that were revoked or have expired')
    .action(lazyAction(() => import('./list.ts')))
  keys
    .command('create')
    .description('create an API key; it is shown this once')
    .argument('<name>', 'what it is for')
    .option('--expires <time>', 'such as +90d or 2027-01-01; default: never', parseTime)
    .action(lazyAction(() => import('./create.ts')))
  keys
    .command('revoke')
    .description('revoke an API key; it stops working at once, everywhere')
    .argument('<key>', 'its id, the beginning of that, or its name')
    .action(lazyAction(() => import('./revoke.ts')))
}
