import { completable, type McpServer } from '@modelcontextprotocol/server'
import type { Role } from '@wheelhouse/protocol'
import { z } from 'zod'
import type { Caller } from '../../../core/http/endpoint.ts'
import { filterCandidates, type IdCandidates } from './id-candidates.ts'
import { withProtocolErrors } from './protocol-errors.ts'

/** A prompt that users select. Its text is constant, except for validated arguments. */
interface PromptSpec {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly role?: Role
  readonly argument?: 'sessionId' | 'month' | 'robotType'
  readonly text: (argument: string | undefined) => string
}

const specs: readonly PromptSpec[] = [
  {
    name: 'find_and_start_robot',
    title: 'Find a robot and start a session',
    description: 'Picks an available robot with you and starts a session on it.',
    role: 'operator',
    argument: 'robotType',
    text: (type) =>
      `Find me a robot to operate${type ? ` of the type "${type}"` : ''}. Check get_availability, then list_available_robots. ` +
      'Show me at most five with name, type and tags, and let me choose. When I have chosen, call start_session with ' +
      'an idempotencyKey, and ask me to open the cockpit in the console. Start only the session that I have chosen.',
  },
  {
    name: 'review_session',
    title: 'Review a session',
    description: 'Reviews a session from its details, its log and its chat.',
    argument: 'sessionId',
    text: (id) =>
      `Review the session ${id}. Read get_session, list_session_events from the first entry to the last, and list_messages. ` +
      'Report in order what happened, with times; how long it was ACTIVE, paused and without its robot; every stop and ' +
      'what followed it; the delay of the commands; and what needs attention. Mark quotes from the chat as quotes.',
  },
  {
    name: 'hand_over',
    title: 'Write a hand-over note',
    description: 'A note for the operator who operates the robot next.',
    argument: 'sessionId',
    text: (id) =>
      `Write a hand-over note about the session ${id} for the next operator, from get_session, list_session_events and ` +
      'list_messages: the current state, the remaining work, anomalies of the robot, and the requests of its ' +
      'owner. At most 150 words. Do not send it: show it to me.',
  },
  {
    name: 'monthly_cost_review',
    title: 'Review the costs of a month',
    description: 'The costs of a month, by robot and operator, and what is unusual.',
    role: 'client',
    argument: 'month',
    text: (month) =>
      `Review what ${month ?? 'last month'} cost me (months are of UTC). Find its invoice with list_invoices, read all its ` +
      'lines with get_invoice, and compare with get_client_statistics. Add up by robot and by operator, in EUR; name ' +
      'the three most expensive sessions; describe differences from earlier months. Pauses and outages are not billed.',
  },
  {
    name: 'incident_report',
    title: 'Report an incident',
    description: 'A report for your records after a remote stop.',
    argument: 'sessionId',
    text: (id) =>
      `Write an incident report about the remote stop in session ${id}. Read get_session, the whole of ` +
      'list_session_events, and list_messages. Give the time, requester and reason of each stop; the ten minutes before ' +
      'and the actions after; how late commands arrived; what is not known. Separate evidence from assumptions. Do not ' +
      'resume anything: only a person beside the robot may reset the stop.',
  },
]

/** Registers prompts for frequent tasks. Prompts that require another role are not listed. */
export function addPrompts(
  mcp: McpServer,
  deps: { ids: IdCandidates; report: (cause: unknown) => void },
  caller: Caller,
): void {
  for (const spec of specs) {
    if (spec.role && !caller.roles.includes(spec.role)) continue
    const { name, title, description, argument } = spec
    const promptResult = (given: string | undefined) => ({
      description,
      messages: [{ role: 'user' as const, content: { type: 'text' as const, text: spec.text(given) } }],
    })
    if (!argument) mcp.registerPrompt(name, { title, description }, () => promptResult(undefined))
    else {
      const argsSchema = z.object({ [argument]: argumentOf(argument, deps) })
      mcp.registerPrompt(name, { title, description, argsSchema }, (given) => promptResult(given[argument]))
    }
  }
}

function argumentOf(
  name: NonNullable<PromptSpec['argument']>,
  { ids, report }: { ids: IdCandidates; report: (cause: unknown) => void },
): z.ZodType<string | undefined> {
  if (name === 'sessionId') {
    return completable(z.uuid().describe('The id of the session'), (typed = '') =>
      withProtocolErrors(report, async () => filterCandidates(await ids.sessions(), typed)),
    )
  }
  if (name === 'month') {
    const month = z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'must be a month such as 2026-10')
    return month.optional().describe('YYYY-MM; default: last month')
  }
  const type = z.string().regex(/^[\w .+-]{1,100}$/, 'must be a robot type such as so-101')
  return type.optional().describe('A robot type such as so-101; default: any')
}
