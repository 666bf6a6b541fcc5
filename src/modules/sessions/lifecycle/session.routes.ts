import { ChatMessage } from '@wheelhouse/protocol'
import { badRequest, forbidden } from '../../../core/errors/errors.ts'
import { type Caller, type Endpoint, endpoint, idParams } from '../../../core/http/endpoint.ts'
import type { Messages } from '../messages/message.service.ts'
import {
  AfterSeq,
  CreateSession,
  EventList,
  ListSessions,
  MessageList,
  PerformSessionAction,
  SendMessage,
} from '../record/session.schema.ts'
import { sessionDetail, sessionView } from '../record/session.view.ts'
import type { SessionQueries } from '../record/session-queries.ts'
import { CreatedSession, SessionDetail, SessionList } from '../record/session-view.schema.ts'
import type { SessionLifecycle } from './session-lifecycle.ts'
import type { SessionStarts } from './session-start.ts'

export interface SessionRouteDeps {
  readonly queries: SessionQueries
  readonly starts: SessionStarts
  readonly lifecycle: SessionLifecycle
  readonly messages: Messages
  readonly isOperator: (userId: string) => Promise<boolean>
  readonly now: () => Date
}

export function sessionEndpoints(deps: SessionRouteDeps): Endpoint[] {
  return [...lifecycleEndpoints(deps), ...logEndpoints(deps)]
}

/** The operator a new session is for: the caller, or, for an admin, whoever they name. */
async function operatorFor(deps: SessionRouteDeps, caller: Caller, operatorId: string | undefined) {
  const admin = caller.roles.includes('admin')
  if (!admin && !caller.roles.includes('operator'))
    throw forbidden(
      'role_required',
      'Only operators may start sessions. Take the operator role in your settings first.',
    )
  if (operatorId === undefined || operatorId === caller.userId) {
    if (!caller.roles.includes('operator'))
      throw badRequest('operatorId: is required, because you are not an operator')
    return caller.userId
  }
  if (!admin) throw forbidden('other_operator_not_allowed', 'operatorId: must be your own id, or be left out')
  if (!(await deps.isOperator(operatorId))) throw badRequest('operatorId: must be the id of an operator')
  return operatorId
}

function lifecycleEndpoints(deps: SessionRouteDeps): Endpoint[] {
  const { queries, starts, lifecycle, now } = deps
  return [
    endpoint({
      method: 'get',
      path: '/api/sessions',
      summary: 'Lists your sessions, newest first',
      access: {},
      query: ListSessions,
      response: [200, SessionList],
      run: async ({ caller, query }) => {
        const rows = await queries.list(caller, query)
        return { sessions: rows.map((row) => sessionView(row, caller.userId, now())) }
      },
    }),
    endpoint({
      method: 'post',
      path: '/api/sessions',
      summary: 'Starts or schedules a session on an available robot, as its operator',
      access: {}, // operators, and admins on behalf of one: see operatorFor
      body: CreateSession,
      response: [201, CreatedSession],
      errors: {
        403: 'when you are no operator, name another one, or lack a certification that the robot asks for',
        404: 'when there is no such robot',
        409:
          'when the robot is not AVAILABLE, the operator already has an open session, or another session of either ' +
          'is planned for a part of that time',
      },
      run: async ({ caller, body }) => {
        const operatorId = await operatorFor(deps, caller, body.operatorId)
        const { scheduledFor } = body
        const session = scheduledFor
          ? await starts.schedule(operatorId, body, new Date(scheduledFor), caller.userId)
          : await starts.startNow(operatorId, body, caller.userId)
        return { sessionId: session.id, status: session.status }
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/sessions/{id}',
      summary: 'Returns one session with its details',
      access: {},
      params: idParams('session'),
      response: [200, SessionDetail],
      run: async ({ caller, params }) => sessionDetail(await queries.get(caller, params.id), caller, now()),
    }),
    endpoint({
      method: 'patch',
      path: '/api/sessions/{id}',
      summary: 'Starts, pauses, resumes, ends, cancels or stops a session, or decides an extension request',
      access: {},
      params: idParams('session'),
      body: PerformSessionAction,
      response: [200, SessionDetail],
      errors: {
        403:
          'when the action is not for your side of the session to take, or the robot asks for a certification ' +
          'that its operator does not have any more',
        409:
          'when the status of the session, the robot or the operator does not allow the action, or another session ' +
          'is planned for a part of the time that an extension or an early start would take',
      },
      run: async ({ caller, params, body }) => {
        const row = await lifecycle.performAction(caller, params.id, body.action, body.reason)
        return sessionDetail(row, caller, now())
      },
    }),
  ]
}

function logEndpoints({ queries, messages }: SessionRouteDeps): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/sessions/{id}/messages',
      summary: 'Lists the chat messages of a session, oldest first',
      access: {},
      params: idParams('session'),
      query: AfterSeq,
      response: [200, MessageList],
      run: async ({ caller, params, query }) => ({
        messages: await messages.list(caller, params.id, query.after, query.limit),
      }),
    }),
    endpoint({
      method: 'post',
      path: '/api/sessions/{id}/messages',
      summary: 'Sends a chat message; repeating a clientMessageId answers with the first message',
      access: {},
      params: idParams('session'),
      body: SendMessage,
      response: [201, ChatMessage],
      errors: { 422: 'when the clientMessageId was used for another message' },
      run: async ({ caller, params, body }) =>
        (await messages.send(caller, params.id, body.body, body.clientMessageId)).message,
    }),
    endpoint({
      method: 'get',
      path: '/api/sessions/{id}/events',
      summary: 'Lists the log of a session, oldest first',
      access: {},
      params: idParams('session'),
      query: AfterSeq,
      response: [200, EventList],
      run: async ({ caller, params, query }) => {
        await queries.parties(caller, params.id)
        return { events: await queries.events(params.id, query.after, query.limit) }
      },
    }),
  ]
}
