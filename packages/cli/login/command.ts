import type { Command } from 'commander'
import type { LazyAction } from '../lazy-action.ts'

/** `wheelhouse login`, `logout`, `whoami` and `profiles`: who one is, and where. */
export function addLogin(program: Command, lazyAction: LazyAction): void {
  program
    .command('login')
    .description('sign in to a platform: in a browser, or with an API key')
    .argument('[address]', 'the platform, such as https://hub.example')
    .option('--api-key', 'with an API key, typed without showing or read from standard input')
    .option('--open', 'open the browser')
    .action(lazyAction(() => import('./login.ts')))
  program
    .command('logout')
    .description('forget a sign-in, and end it at the identity provider')
    .option('--all', 'every one of them')
    .action(lazyAction(() => import('./logout.ts')))
  program
    .command('whoami')
    .description('show who you are, and at which platform')
    .action(lazyAction(() => import('./whoami.ts')))
  const profiles = program.command('profiles').description('your sign-ins')
  profiles
    .command('list')
    .description('list your sign-ins; the current one is marked')
    .action(lazyAction(() => import('./profiles-list.ts')))
  profiles
    .command('use')
    .description('make one the current one')
    .argument('<name>')
    .action(lazyAction(() => import('./profiles-use.ts')))
}
