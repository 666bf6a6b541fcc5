import { reasonText } from '@wheelhouse/protocol'
import { answerOf } from '@wheelhouse/sdk'
import { type Command, Option } from 'commander'
import { declareCertifications } from './admin-certifications.ts'
import { declareJobs } from './admin-jobs.ts'
import { declareRobotModels } from './admin-robot-models.ts'
import { declareRoles, declareUsers } from './admin-users.ts'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { integer, parseTime } from './lib/options.ts'
import { styled } from './lib/text.ts'
import { formatTime, statusPiece } from './lib/views.ts'

export const commands = { admin: declareAdmin }

/** `wheelhouse admin …`: for admins of the platform. */
function declareAdmin(admin: Command, action: CreateAction): void {
  const limit = new Option('--limit <number>', 'largest number of entries')
    .argParser(integer(1, 100))
    .default(50)
  admin
    .command('overview')
    .description('show robots by status, open sessions and gateways')
    .action(action(overview))
  declareUsers(admin, action, limit)
  declareCertifications(admin, action)
  declareJobs(admin, action, limit)
  declareRobotModels(admin, action)
  admin
    .command('contact-messages')
    .description('list contact messages, newest first')
    .addOption(limit)
    .action(action(contactMessages))
  admin
    .command('robot-requests')
    .description('list requests for robot types that are not supported yet, newest first')
    .addOption(limit)
    .action(action(robotRequests))
  admin
    .command('audit')
    .description('list privileged actions and payments, newest first')
    .option('--actor <id>', 'only actions by this user')
    .option('--subject <id>', 'only actions on this resource')
    .option('--action <name>', 'only actions of this type, such as certification.approved')
    .option('--since <time>', 'only actions at or after this time', parseTime)
    .option('--until <time>', 'only actions before this time', parseTime)
    .addOption(limit)
    .action(action(audit))
  admin
    .command('plan')
    .description('set the pricing plan of a client, from their next session on')
    .argument('<client>', 'the id of the client')
    .argument('[plan]', 'the id of the plan; without one, the default plan')
    .action(action(setPlan))
  declareRoles(admin, action)
}

/** Prints robots by status, open sessions and gateways. */
async function overview(cli: Context): Promise<void> {
  const overview = await answerOf(cli.rest.GET('/api/admin/overview'))
  const { out } = cli
  out.result(overview, () => {
    const { robots, sessions, gateways } = overview
    out.line(
      `Robots: ${robots.AVAILABLE} available, ${robots.IN_SESSION} in session, ${robots.OFFLINE} offline`,
    )
    out.line(`Open sessions: ${sessions.total}`)
    if (sessions.open.length > 0) {
      out.table(sessions.open, [
        { title: 'ID', value: ({ id }) => id, noTruncate: true },
        { title: 'STATUS', value: ({ status }) => statusPiece(status) },
        { title: 'STOP', value: ({ stop }) => (stop ? styled('red', reasonText(stop.reason)) : undefined) },
        { title: 'ROBOT', value: ({ robot_name }) => robot_name },
        { title: 'OPERATOR', value: ({ operator_name }) => operator_name },
        { title: 'CLIENT', value: ({ client_name }) => client_name },
        { title: 'STARTED', value: ({ started_at }) => formatTime(started_at) },
      ])
    }
    out.line(`Gateways: ${gateways.length}`)
    if (gateways.length > 0) {
      out.table(gateways, [
        { title: 'ADDRESS', value: ({ url }) => url },
        { title: 'ROBOTS', value: (gateway) => gateway.robots, right: true },
        { title: 'SINCE', value: ({ started_at }) => formatTime(started_at) },
        { title: 'STATE', value: ({ draining }) => (draining ? styled('yellow', 'draining') : 'serving') },
      ])
    }
  })
}

/** Prints the messages of the contact form. */
async function contactMessages(cli: Context, { limit }: { limit: number }): Promise<void> {
  const { contact_messages } = await answerOf(
    cli.rest.GET('/api/admin/contact-messages', { params: { query: { limit } } }),
  )
  cli.out.list(
    contact_messages,
    [
      { title: 'WHEN', value: ({ created_at }) => formatTime(created_at) },
      { title: 'FROM', value: ({ name, email }) => `${name} <${email}>` },
      { title: 'CATEGORY', value: ({ category }) => category },
      { title: 'SUBJECT', value: ({ subject }) => subject },
      { title: 'DELIVERED', value: ({ delivered }) => (delivered ? 'yes' : 'no') },
      { title: 'MESSAGE', value: ({ message }) => message },
    ],
    'No messages.',
  )
}

/** Prints the requests for robot types that the platform does not support. */
async function robotRequests(cli: Context, { limit }: { limit: number }): Promise<void> {
  const { robot_requests } = await answerOf(
    cli.rest.GET('/api/admin/robot-requests', { params: { query: { limit } } }),
  )
  cli.out.list(
    robot_requests,
    [
      { title: 'WHEN', value: ({ created_at }) => formatTime(created_at) },
      { title: 'TYPE', value: ({ robot_type }) => robot_type },
      { title: 'FROM', value: ({ name, email }) => (name ? `${name} <${email}>` : email) },
      { title: 'DETAILS', value: ({ details }) => details },
    ],
    'No requests.',
  )
}

interface AuditOptions {
  readonly actor?: string
  readonly subject?: string
  readonly action?: string
  readonly since?: string
  readonly until?: string
  readonly limit: number
}

/** Prints the audit log. */
async function audit(cli: Context, { actor, subject, ...rest }: AuditOptions): Promise<void> {
  const query = { ...rest, ...(actor && { actor_id: actor }), ...(subject && { subject_id: subject }) }
  const { entries } = await answerOf(cli.rest.GET('/api/admin/audit', { params: { query } }))
  cli.out.list(
    entries,
    [
      { title: 'NUMBER', value: ({ id }) => id, right: true },
      { title: 'WHEN', value: ({ at }) => formatTime(at) },
      { title: 'WHO', value: ({ actor_name, actor_id }) => actor_name ?? actor_id ?? 'the platform' },
      { title: 'WHAT', value: ({ action }) => action },
      { title: 'TO', value: ({ subject_type, subject_id }) => `${subject_type} ${subject_id}` },
      { title: 'MORE', value: ({ data }) => (Object.keys(data).length > 0 ? JSON.stringify(data) : '') },
    ],
    'No matching audit entries.',
  )
}

/** Sets the pricing plan of a client. */
async function setPlan(cli: Context, client: string, plan: string | undefined): Promise<void> {
  const params = { path: { id: client } }
  const updated = await answerOf(
    cli.rest.POST('/api/admin/clients/{id}/plan', { params, body: { plan: plan ?? null } }),
  )
  cli.out.result(updated, () =>
    cli.out.line(`${updated.client_id} is on ${updated.plan ?? 'the default plan'}.`),
  )
}
