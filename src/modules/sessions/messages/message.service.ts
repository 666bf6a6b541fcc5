import { randomUUID } from 'node:crypto'
import type { ChatMessage, Role, SessionEventType } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import { compiled } from '../../../core/database/compiled.ts'
import type { Db, Tables } from '../../../core/database/tables.ts'
import { AppError, notFound, uniqueViolation } from '../../../core/errors/errors.ts'
import { appendEventSql } from '../../../core/events/outbox-sql.ts'
import type { RunStatement } from '../../../core/events/transactor.ts'
import type { Caller } from '../../../core/http/endpoint.ts'
import { can, requireKeyFor } from '../../../core/permissions/authorization.ts'
import { messageView } from '../record/session.view.ts'
import { logEvent } from '../record/session-event-log.ts'
import type { SessionQueries } from '../record/session-queries.ts'

const CHAT_MESSAGE = 'chat.message' satisfies SessionEventType

/** In the order in which the statement below selects their values. */
const messageColumns = [
  'id',
  'session_id',
  'seq',
  'sender_id',
  'sender_name',
  'sender_role',
  'body',
  'client_message_id',
  'created_at',
] as const satisfies readonly (keyof Tables['messages'])[]

interface NewMessage {
  readonly id: string
  readonly sessionId: string
  readonly senderId: string
  readonly senderName: string
  readonly isAdmin: boolean
  /** The organization that the sender acts for. */
  readonly organizationId: string
  /** The same, if the sender may write to the sessions of its robots; otherwise null. */
  readonly clientId: string | null
  /** The groups of robots that this is limited to; null for all. */
  readonly groupIds: readonly string[] | null
  readonly body: string
  readonly clientMessageId: string | null
  readonly at: Date
}

/** Returns the event of a message without its number and the role of its sender, which the statement determines. */
function eventOf({ id, sessionId, senderId, senderName, body, at }: NewMessage) {
  const message = messageView({
    id,
    session_id: sessionId,
    seq: 0,
    sender_id: senderId,
    sender_name: senderName,
    sender_role: 'client',
    body,
    created_at: at,
  })
  return logEvent({ sessionId, seq: 0, type: CHAT_MESSAGE, at, data: { ...message } })
}

const appendEvent = appendEventSql('session.event', 'publishable.event', 'publishable')

/**
 * Increments the session's log number, which locks its row, and inserts the message, its log entry and its domain event:
 * log and chat have one order. It is one statement, because every message pays for it. Inserts nothing unless the sender
 * is a participant or an admin.
 */
const insertNext = compiled<NewMessage & { readonly event: string }>()((db, param) =>
  db
    .with('next_entry', (cte) =>
      cte
        .updateTable('sessions')
        .set((eb) => ({ event_seq: eb('event_seq', '+', 1) }))
        .where('id', '=', param('sessionId'))
        .where(
          sql<boolean>`(${param('isAdmin')}::boolean
            or (operator_id = ${param('senderId')}::uuid
              and ${param('organizationId')}::uuid = case when own_operator then client_id else operator_id end)
            or (client_id = ${param('clientId')}::uuid and (${param('groupIds')}::uuid[] is null or exists (
              select from robots where robots.id = robot_id and robots.group_id = any(${param('groupIds')}::uuid[])))))`,
        )
        .returning(['id', 'event_seq', 'operator_id', 'client_id']),
    )
    .with('sent', (cte) =>
      cte
        .insertInto('messages')
        .columns(messageColumns)
        .expression((eb) =>
          eb.selectFrom('next_entry').select([
            sql<string>`${param('id')}::uuid`.as('message_id'),
            'next_entry.id as session_id',
            'next_entry.event_seq',
            sql<string>`${param('senderId')}::uuid`.as('sender_id'),
            sql<string>`${param('senderName')}::text`.as('sender_name'),
            sql<Role>`case when operator_id = ${param('senderId')}::uuid then 'operator'
                when client_id = ${param('clientId')}::uuid then 'client' else 'admin' end`.as('sender_role'),
            sql<string>`${param('body')}::text`.as('body'),
            sql<string | null>`${param('clientMessageId')}::text`.as('client_message_id'),
            sql<Date>`${param('at')}::timestamptz`.as('created_at'),
          ]),
        )
        .returning(messageColumns),
    )
    .with('logged', (cte) =>
      cte
        .insertInto('session_events')
        .columns(['session_id', 'seq', 'type', 'data', 'at'])
        .expression((eb) =>
          eb
            .selectFrom('sent')
            .select(['session_id', 'seq', sql<SessionEventType>`${CHAT_MESSAGE}::text`.as('type')])
            .select([sql<unknown>`jsonb_build_object('message_id', id)`.as('data'), 'created_at']),
        ),
    )
    .with('publishable', (cte) =>
      cte.selectFrom('sent').select(
        sql<unknown>`${param('event')}::jsonb || jsonb_build_object('seq', seq, 'data',
          (${param('event')}::jsonb -> 'data') || jsonb_build_object('seq', seq, 'sender_role', sender_role))`.as(
          'event',
        ),
      ),
    )
    .with('recorded', () => sql<Record<never, never>>`(${sql.raw(appendEvent)})`)
    .selectFrom('sent')
    .select(messageColumns),
)

/** Sends and lists the chat messages of sessions. Messages share the numbering of the session's log. */
export function createMessages(deps: {
  db: Db
  runStatement: RunStatement
  now: () => Date
  queries: SessionQueries
}) {
  const { db, runStatement, now, queries } = deps

  async function findByClientMessageId(
    sessionId: string,
    senderId: string,
    clientMessageId: string,
    body: string,
  ) {
    const row = await db
      .selectFrom('messages')
      .selectAll()
      .where('session_id', '=', sessionId)
      .where('sender_id', '=', senderId)
      .where('client_message_id', '=', clientMessageId)
      .executeTakeFirst()
    if (row && row.body !== body)
      throw new AppError(
        422,
        'client_message_id_reused',
        'clientMessageId: was used for a message with another text. Use a new id.',
      )
    return row
  }

  async function insert(
    caller: Caller,
    sessionId: string,
    body: string,
    clientMessageId: string | undefined,
  ) {
    const at = now()
    const draft: NewMessage = {
      id: randomUUID(),
      sessionId,
      senderId: caller.userId,
      senderName: caller.displayName,
      isAdmin: caller.roles.includes('admin'),
      organizationId: caller.organization.id,
      clientId: can(caller, 'sessions.manage') ? caller.organization.id : null,
      groupIds: caller.organization.groupIds,
      body,
      clientMessageId: clientMessageId ?? null,
      at,
    }
    const event = JSON.stringify(eventOf(draft))
    const row = await runStatement(async (trx) => (await insertNext(trx, { ...draft, event }))[0])
    if (!row) throw notFound('Session')
    return messageView(row)
  }

  return {
    /**
     * Stores and publishes a message. A repeated `clientMessageId` returns the message that was stored first, so that a
     * sender can safely retry.
     * @throws 404 when the session does not exist or the caller may not see it.
     */
    async send(
      caller: Caller,
      sessionId: string,
      body: string,
      clientMessageId: string | undefined,
    ): Promise<{ message: ChatMessage; created: boolean }> {
      requireKeyFor(caller, 'sessions.manage')
      try {
        return { message: await insert(caller, sessionId, body, clientMessageId), created: true }
      } catch (cause) {
        if (uniqueViolation(cause) !== 'messages_client_id' || clientMessageId === undefined) throw cause
        const first = await findByClientMessageId(sessionId, caller.userId, clientMessageId, body)
        if (!first) throw cause
        return { message: messageView(first), created: false }
      }
    },

    /** Returns messages with numbers above `after`, oldest first. */
    async list(caller: Caller, sessionId: string, after: number, limit: number): Promise<ChatMessage[]> {
      await queries.parties(caller, sessionId)
      const rows = await db
        .selectFrom('messages')
        .selectAll()
        .where('session_id', '=', sessionId)
        .where('seq', '>', after)
        .orderBy('seq')
        .limit(limit)
        .execute()
      return rows.map(messageView)
    },
  }
}
export type Messages = ReturnType<typeof createMessages>
