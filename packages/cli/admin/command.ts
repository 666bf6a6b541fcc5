import { Argument, type Command, Option } from 'commander'
import type { LazyAction } from '../lazy-action.ts'
import { integer, parseTime } from '../option-parsers.ts'

const REQUEST = 'the id of the request, or the beginning of that'
const STATUSES = ['PENDING', 'APPROVED', 'REJECTED', 'REVOKED']
const REASON = 'why; the operator reads it'
const ROLES = ['client', 'operator']

/** `wheelhouse admin …`: for admins of the platform. */
export function addAdmin(program: Command, lazyAction: LazyAction): void {
  const admin = program.command('admin').description('for admins of the platform')
  const limit = new Option('--limit <number>', 'at most so many').argParser(integer(1, 100)).default(50)
  admin
    .command('overview')
    .description('show robots by status, open sessions and gateways')
    .action(lazyAction(() => import('./overview.ts')))
  addCertifications(admin, lazyAction)
  admin
    .command('contact-messages')
    .description('list contact messages, newest first')
    .addOption(limit)
    .action(lazyAction(() => import('./contact-messages.ts')))
  admin
    .command('robot-requests')
    .description('list requests for robot types that are not supported yet, newest first')
    .addOption(limit)
    .action(lazyAction(() => import('./robot-requests.ts')))
  admin
    .command('audit')
    .description('list privileged and money-moving acts, newest first')
    .option('--actor <id>', 'only by this user')
    .option('--subject <id>', 'only to this')
    .option('--action <name>', 'only such acts, e.g. certification.approved')
    .option('--since <time>', 'this time and later', parseTime)
    .option('--until <time>', 'before this time', parseTime)
    .addOption(limit)
    .action(lazyAction(() => import('./audit.ts')))
  admin
    .command('plan')
    .description('give a client a pricing plan, from their next session on')
    .argument('<client>', 'the id of the client')
    .argument('[plan]', 'the id of the plan; without one, the default plan')
    .action(lazyAction(() => import('./plan.ts')))
  admin
    .command('remove-role')
    .description('remove a role of a user, who cannot take it again; open sessions go on')
    .argument('<user>', 'the id of the user')
    .addArgument(new Argument('<role>').choices(ROLES))
    .action(lazyAction(() => import('./remove-role.ts')))
  admin
    .command('restore-role')
    .description('give a role back that an admin has removed')
    .argument('<user>', 'the id of the user')
    .addArgument(new Argument('<role>').choices(ROLES))
    .action(lazyAction(() => import('./restore-role.ts')))
}

function addCertifications(admin: Command, lazyAction: LazyAction): void {
  const certifications = admin.command('certifications').description('what operators ask to be certified for')
  certifications
    .command('list')
    .description('list requests, longest waiting first')
    .addOption(new Option('--status <status>', 'only these').choices(STATUSES).default('PENDING'))
    .action(lazyAction(() => import('./certifications-list.ts')))
  certifications
    .command('approve')
    .description('certify an operator for a type of robot')
    .argument('<certification>', REQUEST)
    .action(lazyAction(() => import('./certifications-approve.ts')))
  certifications
    .command('reject')
    .description('refuse a request')
    .argument('<certification>', REQUEST)
    .requiredOption('--reason <text>', REASON)
    .action(lazyAction(() => import('./certifications-reject.ts')))
  certifications
    .command('revoke')
    .description('take a certification away; open sessions go on, no new one starts')
    .argument('<certification>', REQUEST)
    .requiredOption('--reason <text>', REASON)
    .action(lazyAction(() => import('./certifications-revoke.ts')))
}
