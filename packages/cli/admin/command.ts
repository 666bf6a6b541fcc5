import { Argument, type Command, Option } from 'commander'
import type { LazyAction } from '../lazy-action.ts'
import { integer, parseTime } from '../option-parsers.ts'

const REQUEST = 'the id of the request, or a prefix of it'
const STATUSES = ['PENDING', 'APPROVED', 'REJECTED', 'REVOKED']
const REASON = 'the reason, which the operator can read'
const JOB = 'the id of the job'
const JOB_STATES = ['failed', 'retrying', 'running', 'waiting']
const MODEL = 'the id of the model, such as so-101'
const USER = 'the id of the user'
const ROLES = ['client', 'operator']

/** `wheelhouse admin …`: for admins of the platform. */
export function addAdmin(program: Command, lazyAction: LazyAction): void {
  const admin = program.command('admin').description('for admins of the platform')
  const limit = new Option('--limit <number>', 'largest number of entries')
    .argParser(integer(1, 100))
    .default(50)
  admin
    .command('overview')
    .description('show robots by status, open sessions and gateways')
    .action(lazyAction(() => import('./overview.ts')))
  addUsers(admin, lazyAction, limit)
  addCertifications(admin, lazyAction)
  addJobs(admin, lazyAction, limit)
  addRobotModels(admin, lazyAction)
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
    .description('list privileged actions and payments, newest first')
    .option('--actor <id>', 'only actions by this user')
    .option('--subject <id>', 'only actions on this resource')
    .option('--action <name>', 'only actions of this type, such as certification.approved')
    .option('--since <time>', 'only actions at or after this time', parseTime)
    .option('--until <time>', 'only actions before this time', parseTime)
    .addOption(limit)
    .action(lazyAction(() => import('./audit.ts')))
  admin
    .command('plan')
    .description('set the pricing plan of a client, from their next session on')
    .argument('<client>', 'the id of the client')
    .argument('[plan]', 'the id of the plan; without one, the default plan')
    .action(lazyAction(() => import('./plan.ts')))
  admin
    .command('remove-role')
    .description('remove a role from a user, who cannot choose it again; open sessions continue')
    .argument('<user>', USER)
    .addArgument(new Argument('<role>').choices(ROLES))
    .action(lazyAction(() => import('./remove-role.ts')))
  admin
    .command('restore-role')
    .description('restore a role that an admin has removed')
    .argument('<user>', USER)
    .addArgument(new Argument('<role>').choices(ROLES))
    .action(lazyAction(() => import('./restore-role.ts')))
}

function addUsers(admin: Command, lazyAction: LazyAction, limit: Option): void {
  const users = admin.command('users').description('accounts of the platform')
  users
    .command('list')
    .description('list users, newest first')
    .option('--search <words>', 'only users with these words in the name or the e-mail, or with this id')
    .addOption(new Option('--role <role>', 'only users with this role').choices([...ROLES, 'admin']))
    .option('--suspended', 'only suspended users')
    .addOption(limit)
    .action(lazyAction(() => import('./users-list.ts')))
  users
    .command('suspend')
    .description('suspend a user, whose credentials and connections are refused at once')
    .argument('<user>', USER)
    .requiredOption('--reason <text>', 'the reason, which the user can read')
    .action(lazyAction(() => import('./users-suspend.ts')))
  users
    .command('restore')
    .description('end the suspension of a user')
    .argument('<user>', USER)
    .action(lazyAction(() => import('./users-restore.ts')))
}

function addRobotModels(admin: Command, lazyAction: LazyAction): void {
  const models = admin.command('robot-models').description('supported robot models and their schemas')
  models
    .command('list', { isDefault: true })
    .description('list the models by name')
    .action(lazyAction(() => import('./robot-models-list.ts')))
  models
    .command('show')
    .description('show a model and the fields of its schemas; with --json the schemas')
    .argument('<model>', MODEL)
    .action(lazyAction(() => import('./robot-models-show.ts')))
  models
    .command('update')
    .description('declare the commands and the telemetry of the robots of a model')
    .argument('<model>', MODEL)
    .option('--control-schema <file>', 'JSON file with the commands that they accept; "" for none')
    .option('--telemetry-schema <file>', 'JSON file with the telemetry that they send; "" for none')
    .action(lazyAction(() => import('./robot-models-update.ts')))
}

function addJobs(admin: Command, lazyAction: LazyAction, limit: Option): void {
  const jobs = admin.command('jobs').description('background jobs')
  jobs
    .command('queues', { isDefault: true })
    .description('list the queues and their unfinished jobs')
    .action(lazyAction(() => import('./jobs-queues.ts')))
  jobs
    .command('list')
    .description('list unfinished jobs and their errors, newest first')
    .addOption(new Option('--state <state>', 'the state of the jobs').choices(JOB_STATES).default('failed'))
    .option('--queue <queue>', 'only jobs of this queue')
    .addOption(limit)
    .action(lazyAction(() => import('./jobs-list.ts')))
  jobs
    .command('retry')
    .description('run a failed, retrying or waiting job now')
    .argument('<job>', JOB)
    .action(lazyAction(() => import('./jobs-retry.ts')))
  jobs
    .command('discard')
    .description('remove a job; a running one is aborted')
    .argument('<job>', JOB)
    .action(lazyAction(() => import('./jobs-discard.ts')))
}

function addCertifications(admin: Command, lazyAction: LazyAction): void {
  const certifications = admin.command('certifications').description('certifications of operators')
  certifications
    .command('list')
    .description('list requests, oldest first')
    .addOption(
      new Option('--status <status>', 'only requests with this status').choices(STATUSES).default('PENDING'),
    )
    .action(lazyAction(() => import('./certifications-list.ts')))
  certifications
    .command('approve')
    .description('certify an operator for a type of robot')
    .argument('<certification>', REQUEST)
    .action(lazyAction(() => import('./certifications-approve.ts')))
  certifications
    .command('reject')
    .description('reject a request')
    .argument('<certification>', REQUEST)
    .requiredOption('--reason <text>', REASON)
    .action(lazyAction(() => import('./certifications-reject.ts')))
  certifications
    .command('revoke')
    .description('revoke a certification; open sessions continue, and the operator cannot start new ones')
    .argument('<certification>', REQUEST)
    .requiredOption('--reason <text>', REASON)
    .action(lazyAction(() => import('./certifications-revoke.ts')))
}
