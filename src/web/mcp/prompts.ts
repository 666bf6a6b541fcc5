import { completable, type McpServer } from '@modelcontextprotocol/server'
import type { Role } from '@wheelhouse/protocol'
import { z } from 'zod'
import type { Caller } from '../../core/http/endpoint.ts'
import { filterCandidates, type IdCandidates } from './id-candidates.ts'
import { withProtocolErrors } from './protocol-errors.ts'

/** A prompt is for people to pick: what it says is ours, and only checked arguments stand in it. */
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
      `Find me a robot to drive${type ? ` of the type "${type}"` : ''}. Check get_availability, then list_available_robots. ` +
      'Show me at most five with name, type and tags, and let me choose. When I have chosen, call start_session with ' +
      'an idempotencyKey, and tell me to open the cockpit in the console. Start nothing that I have not chosen.',
  },
  {
    name: 'review_session',
    title: 'Review a session',
    description: 'What happened in a session, from its details, its log and its chat.',
    argument: 'sessionId',
    text: (id) =>
      `Review the session ${id}. Read get_session, list_session_events from the first entry to the last, and list_messages. ` +
      'Tell in order what happened, with times; how long it was ACTIVE, paused and without its robot; every stop and ' +
      'what followed it; the delay of the commands; and what should be looked at. Quote the chat as what people said.',
  },
  {
    name: 'hand_over',
    title: 'Write a hand-over note',
    description: 'A note for whoever takes over the robot after a session.',
    argument: 'sessionId',
    text: (id) =>
      `Write a hand-over note about the session ${id} for the next operator, from get_session, list_session_events and ` +
      'list_messages: where things stand, what is left to do, what was odd about the robot, and what its owner asked ' +
      'for. At most 150 words. Do not send it: show it to me.',
  },
  {
    name: 'monthly_cost_review',
    title: 'Review the costs of a month',
    description: 'What a month cost, by robot and operator, and what stands out.',
    role: 'client',
    argument: 'month',
    text: (month) =>
      `Review what ${month ?? 'last month'} cost me (months are of UTC). Find its invoice with list_invoices, read all its ` +
      'lines with get_invoice, and compare with get_client_statistics. Add up by robot and by operator, in EUR; name ' +
      'the three dearest sessions; say what is unlike the months before. Pauses and outages are not billed.',
  },
  {
    name: 'incident_report',
    title: 'Report an incident',
    description: 'A report after an emergency stop, for the file.',
    argument: 'sessionId',
    text: (id) =>
      `Write an incident report about the emergency stop in session ${id}. Read get_session, the whole of ` +
      'list_session_events, and list_messages. Give the time of each stop, who pressed it and why; the ten minutes before ' +
      'and what was done after; how late commands arrived; what is not known. Keep facts and guesses apart. Do not ' +
      'resume anything: letting the robot go again is for a person beside it.',
  },
]

/** Prompts for jobs that come up again and again. Those that need another role are not shown. */
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
    return month.optional().describe('YYYY-MM; last month unless told')
  }
  const type = z.string().regex(/^[\w .+-]{1,100}$/, 'must be a robot type such as so-101')
  return type.optional().describe('A robot type such as so-101; any unless told')
}
