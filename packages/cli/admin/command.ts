import { Argument, type Command, Option } from 'commander'
import type { Running } from '../commands.ts'
import { integer, moment } from '../values.ts'

const REQUEST = 'the id of the request, or the beginning of that'
const STATUSES = ['PENDING', 'APPROVED', 'REJECTED', 'REVOKED']
const REASON = 'why; the operator reads it'
const ROLES = ['client', 'operator']

/** `wheelhouse admin …`: for admins of the platform. */
export function addAdmin(program: Command, running: Running): void {
  const admin = program.command('admin').description('for admins of the platform')
  const limit = new Option('--limit <number>', 'at most so many').argParser(integer(1, 100)).default(50)
  admin
    .command('overview')
    .description('show robots by status, open sessions and gateways')
    .action(running(() => import('./overview.ts')))
  addCertifications(admin, running)
  admin
    .command('contact-messages')
    .description('list contact messages, newest first')
    .addOption(limit)
    .action(running(() => import('./contact-messages.ts')))
  admin
    .command('robot-requests')
    .description('list requests for robot types that are not supported yet, newest first')
    .addOption(limit)
    .action(running(() => import('./robot-requests.ts')))
  admin
    .command('audit')
    .description('list privileged and money-moving acts, newest first')
    .option('--actor <id>', 'only by this user')
    .option('--subject <id>', 'only to this')
    .option('--action <name>', 'only such acts, e.g. certification.approved')
    .option('--since <time>', 'this time and later', moment)
    .option('--until <time>', 'before this time', moment)
    .addOption(limit)
    .action(running(() => import('./audit.ts')))
  admin
    .command('plan')
    .description('give a client a pricing plan, from their next session on')
    .argument('<client>', 'the id of the client')
    .argument('[plan]', 'the id of the plan; without one, the default plan')
    .action(running(() => import('./plan.ts')))
  admin
    .command('remove-role')
    .description('remove a role of a user, who cannot take it again; open sessions go on')
    .argument('<user>', 'the id of the user')
    .addArgument(new Argument('<role>').choices(ROLES))
    .action(running(() => import('./remove-role.ts')))
  admin
    .command('restore-role')
    .description('give a role back that an admin has removed')
    .argument('<user>', 'the id of the user')
    .addArgument(new Argument('<role>').choices(ROLES))
    .action(running(() => import('./restore-role.ts')))
}

function addCertifications(admin: Command, running: Running): void {
  const certifications = admin.command('certifications').description('what operators ask to be certified for')
  certifications
    .command('list')
    .description('list requests, longest waiting first')
    .addOption(new Option('--status <status>', 'only these').choices(STATUSES).default('PENDING'))
    .action(running(() => import('./certifications-list.ts')))
  certifications
    .command('approve')
    .description('certify an operator for a type of robot')
    .argument('<certification>', REQUEST)
    .action(running(() => import('./certifications-approve.ts')))
  certifications
    .command('reject')
    .description('refuse a request')
    .argument('<certification>', REQUEST)
    .requiredOption('--reason <text>', REASON)
    .action(running(() => import('./certifications-reject.ts')))
  certifications
    .command('revoke')
    .description('take a certification away; open sessions go on, no new one starts')
    .argument('<certification>', REQUEST)
    .requiredOption('--reason <text>', REASON)
    .action(running(() => import('./certifications-revoke.ts')))
}
