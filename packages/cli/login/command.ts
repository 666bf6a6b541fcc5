import type { Command } from 'commander'
import type { LazyAction } from '../lazy-action.ts'

/** Declares `wheelhouse login`, `logout`, `whoami` and `profiles`. */
export function addLogin(program: Command, lazyAction: LazyAction): void {
  program
    .command('login')
    .description('sign in to a platform: in a browser, or with an API key')
    .argument('[address]', 'the platform, such as https://hub.example')
    .option('--api-key', 'sign in with an API key, typed without echo or read from standard input')
    .option('--open', 'open the browser')
    .action(lazyAction(() => import('./login.ts')))
  program
    .command('logout')
    .description('remove a sign-in, and end it at the identity provider')
    .option('--all', 'remove all sign-ins')
    .action(lazyAction(() => import('./logout.ts')))
  program
    .command('whoami')
    .description('show your account and its platform')
    .action(lazyAction(() => import('./whoami.ts')))
  const profiles = program.command('profiles').description('your sign-ins')
  profiles
    .command('list')
    .description('list your sign-ins; the current one is marked')
    .action(lazyAction(() => import('./profiles-list.ts')))
  profiles
    .command('use')
    .description('make a sign-in the current one')
    .argument('<name>')
    .action(lazyAction(() => import('./profiles-use.ts')))
}
