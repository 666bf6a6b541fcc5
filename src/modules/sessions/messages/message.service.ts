import { randomUUID } from 'node:crypto'
import type { ChatMessage, Role } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import { columnsOf } from '../../../core/database/columns.ts'
import { compiled } from '../../../core/database/compiled.ts'
import type { Db } from '../../../core/database/tables.ts'
import { AppError, notFound, uniqueViolation } from '../../../core/errors/errors.ts'
import type { Transact } from '../../../core/events/transactor.ts'
import type { Caller } from '../../../core/http/endpoint.ts'
import { Message } from '../record/session.entity.ts'
import { messageView } from '../record/session.view.ts'
import { appendToLog } from '../record/session-event-log.ts'
import type { SessionParties, SessionQueries } from '../record/session-queries.ts'

/** Returns the role of a sender in the session. */
function senderRole(session: SessionParties, userId: string): Role {
  if (session.operator_id === userId) return 'operator'
  return session.client_id === userId ? 'client' : 'admin'
}

interface NewMessage {
  readonly id: string
  readonly sessionId: string
  readonly senderId: string
  readonly senderName: string
  readonly senderRole: Role
  readonly body: string
  readonly clientMessageId: string | null
  readonly at: Date
}

/** Increments the session's log number, which locks its row, and inserts the message: log and chat have one order. */
const insertNext = compiled<NewMessage>()((db, param) =>
  db
    .with('next_entry', (cte) =>
      cte
        .updateTable('sessions')
        .set((eb) => ({ event_seq: eb('event_seq', '+', 1) }))
        .where('id', '=', param('sessionId'))
        .returning(['id', 'event_seq']),
    )
    .insertInto('messages')
    .columns([
      'id',
      'session_id',
      'seq',
      'sender_id',
      'sender_name',
      'sender_role',
      'body',
      'client_message_id',
      'created_at',
    ])
    .expression((eb) =>
      eb
        .selectFrom('next_entry')
        .select([
          sql<string>`${param('id')}::uuid`.as('message_id'),
          'next_entry.id as session_id',
          'next_entry.event_seq',
          sql<string>`${param('senderId')}::uuid`.as('sender_id'),
          sql<string>`${param('senderName')}::text`.as('sender_name'),
          sql<Role>`${param('senderRole')}::text`.as('sender_role'),
          sql<string>`${param('body')}::text`.as('body'),
          sql<string | null>`${param('clientMessageId')}::text`.as('client_message_id'),
          sql<Date>`${param('at')}::timestamptz`.as('created_at'),
        ]),
    )
    .returning(columnsOf(Message)),
)

/** Sends and lists the chat messages of sessions. Messages share the numbering of the session's log. */
export function createMessages(deps: {
  db: Db
  transact: Transact
  now: () => Date
  queries: SessionQueries
}) {
  const { db, transact, now, queries } = deps

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
    session: SessionParties,
    body: string,
    clientMessageId: string | undefined,
  ) {
    return await transact(async (tx) => {
      const at = now()
      const [row] = await insertNext(tx.db, {
        id: randomUUID(),
        sessionId: session.id,
        senderId: caller.userId,
        senderName: caller.displayName,
        senderRole: senderRole(session, caller.userId),
        body,
        clientMessageId: clientMessageId ?? null,
        at,
      })
      if (!row) throw notFound('Session')
      const message = messageView(row)
      await appendToLog(tx, {
        sessionId: session.id,
        seq: row.seq,
        type: 'chat.message',
        at,
        data: { message_id: row.id },
        publicPayload: { ...message },
      })
      return message
    })
  }

  return {
    /**
     * Stores and publishes a message. A repeated `clientMessageId` returns the message that was stored first, so that a
     * sender can safely retry.
     */
    async send(
      caller: Caller,
      sessionId: string,
      body: string,
      clientMessageId: string | undefined,
    ): Promise<{ message: ChatMessage; created: boolean }> {
      const session = await queries.parties(caller, sessionId)
      try {
        return { message: await insert(caller, session, body, clientMessageId), created: true }
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
