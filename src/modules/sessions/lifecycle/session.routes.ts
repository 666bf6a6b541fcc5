import { ChatMessage } from '@wheelhouse/protocol'
import { badRequest, forbidden } from '../../../core/errors/errors.ts'
import { type Caller, type Endpoint, endpoint, idParams } from '../../../core/http/endpoint.ts'
import { credentialOf } from '../../../core/permissions/authorization.ts'
import type { Messages } from '../messages/message.service.ts'
import {
  AfterSeq,
  CreateSession,
  EventList,
  MessageList,
  PerformSessionAction,
  SendMessage,
} from '../record/session.schema.ts'
import { sessionDetail } from '../record/session.view.ts'
import type { SessionQueries } from '../record/session-queries.ts'
import { CreatedSession, SessionDetail } from '../record/session-view.schema.ts'
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

/** Why a session on a robot cannot start now. */
const robotConflicts = {
  robot_offline: 'when the robot is offline',
  robot_in_session: 'when the robot is in another session',
  robot_on_hold: 'when the owner holds the robot back',
  robot_out_of_service: 'when the owner of the robot has left the platform',
  operator_busy: 'when the operator already has an open session',
} as const

export function sessionEndpoints(deps: SessionRouteDeps): Endpoint[] {
  return [...lifecycleEndpoints(deps), ...logEndpoints(deps)]
}

/** Returns the operator of a new session: the caller, or the operator that an admin names. */
async function operatorFor(deps: SessionRouteDeps, caller: Caller, operatorId: string | undefined) {
  const admin = caller.roles.includes('admin')
  if (!admin && !caller.roles.includes('operator'))
    throw forbidden(
      'role_required',
      'Only operators may start sessions. Add the operator role in your settings first.',
    )
  if (operatorId === undefined || operatorId === caller.userId) {
    if (!caller.roles.includes('operator'))
      throw badRequest('operatorId: is required because you are not an operator')
    return caller.userId
  }
  if (!admin)
    throw forbidden(
      'other_operator_not_allowed',
      'operatorId: must be your own id. Omit it, or ask an admin to start the session.',
    )
  if (!(await deps.isOperator(operatorId))) throw badRequest('operatorId: must be the id of an operator')
  return operatorId
}

function lifecycleEndpoints(deps: SessionRouteDeps): Endpoint[] {
  const { queries, starts, lifecycle, now } = deps
  return [
    endpoint({
      method: 'post',
      path: '/api/sessions',
      summary: 'Starts or schedules a session on an available robot, as its operator',
      access: { scope: 'drive' }, // operators, and admins on behalf of one: see operatorFor
      body: CreateSession,
      response: [201, CreatedSession],
      errors: {
        403: {
          role_required: 'when you, or the operator you name, lack the operator role',
          other_operator_not_allowed: 'when you name another operator and are not an admin',
          certification_required: 'when the robot requires a certification that the operator lacks',
          organization_required:
            'when you are a member of the organization that owns the robot, but act for another one',
          marketplace_operators_only: 'when the robot is not for members of its organization',
        },
        404: { not_found: 'when the robot does not exist, or is not for you' },
        409: {
          ...robotConflicts,
          booking_overlap:
            'when another session of the robot or the operator is planned for a part of that time',
        },
      },
      run: async ({ caller, body }) => {
        const id = await operatorFor(deps, caller, body.operatorId)
        const operator = { id, ...(id === caller.userId && { organizationId: caller.organization.id }) }
        const { scheduledFor } = body
        const credential = credentialOf(caller)
        const session = scheduledFor
          ? await starts.schedule(operator, body, new Date(scheduledFor), caller.userId, credential)
          : await starts.startNow(operator, body, caller.userId, credential)
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
      access: { action: 'sessions.stop' }, // the least: every action is checked with the session
      params: idParams('session'),
      body: PerformSessionAction,
      response: [200, SessionDetail],
      errors: {
        403: {
          action_not_allowed: 'when your part in the session does not include the action',
          stop_clear_not_allowed: 'when only the owner or an admin may clear the stop',
          role_required: 'when the operator no longer has the operator role',
          scope_required: 'when the API key does not have the scope for the action',
          certification_required: 'when the robot requires a certification that the operator no longer has',
        },
        409: {
          session_not_scheduled: 'when the session to start or cancel is not PENDING',
          session_not_active: 'when the session to pause is not ACTIVE',
          session_not_paused: 'when the session to resume is not PAUSED',
          session_not_open: 'when the session to end, stop or extend is not ACTIVE or PAUSED',
          ...robotConflicts,
          control_vacant: 'when nobody controls the robot of the session to resume',
          stop_in_force: 'when a stop prevents the session from being resumed',
          no_stop_in_force: 'when there is no stop to clear',
          stop_repeated: 'when another stop arrived while you cleared the first one',
          stop_clearable: 'when you request that a stop is cleared which you can clear yourself',
          no_extension_pending: 'when no extension request waits',
          booking_overlap:
            'when another session is planned for a part of the time that an extension or an early start would take',
        },
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
      list: true,
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
      summary: 'Sends a chat message; a repeated clientMessageId returns the first message',
      access: { scope: 'sessions' },
      params: idParams('session'),
      body: SendMessage,
      response: [201, ChatMessage],
      errors: { 422: { client_message_id_reused: 'when the clientMessageId was used for another message' } },
      run: async ({ caller, params, body }) =>
        (await messages.send(caller, params.id, body.body, body.clientMessageId)).message,
    }),
    endpoint({
      method: 'get',
      path: '/api/sessions/{id}/events',
      list: true,
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
