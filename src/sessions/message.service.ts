import { randomUUID } from 'node:crypto'
import type { ChatMessage, Role } from '@wheelhouse/protocol'
import type { Db } from '../db/orm.ts'
import type { Transact } from '../events/transactor.ts'
import type { Caller } from '../http/endpoint.ts'
import { AppError, notFound, uniqueViolation } from '../http/errors.ts'
import { appendToLog } from './session.log.ts'
import type { SessionQueries } from './session.queries.ts'
import { messageView, type SessionRow } from './session.view.ts'

/** Which side of the session the sender speaks for. */
function senderRole(session: SessionRow, userId: string): Role {
  if (session.operator_id === userId) return 'operator'
  return session.client_id === userId ? 'client' : 'admin'
}

/** The chat of a session; its messages share the numbering of the session's log. */
export function createMessages(parts: {
  db: Db
  transact: Transact
  now: () => Date
  queries: SessionQueries
}) {
  const { db, transact, now, queries } = parts

  async function sentBefore(sessionId: string, senderId: string, clientMessageId: string, body: string) {
    const row = await db
      .selectFrom('messages')
      .selectAll()
      .where('session_id', '=', sessionId)
      .where('sender_id', '=', senderId)
      .where('client_message_id', '=', clientMessageId)
      .executeTakeFirst()
    if (row && row.body !== body) throw new AppError(422, 'clientMessageId was used for another message')
    return row
  }

  async function insert(
    caller: Caller,
    session: SessionRow,
    body: string,
    clientMessageId: string | undefined,
  ) {
    return await transact(async (tx) => {
      const at = now()
      // Takes the number and with it the session's row lock: log and chat stay in one order.
      const taken = await tx.db
        .updateTable('sessions')
        .set((eb) => ({ event_seq: eb('event_seq', '+', 1) }))
        .where('id', '=', session.id)
        .returning('event_seq')
        .executeTakeFirst()
      if (!taken) throw notFound('Session')
      const row = await tx.db
        .insertInto('messages')
        .values({
          id: randomUUID(),
          session_id: session.id,
          seq: taken.event_seq,
          sender_id: caller.userId,
          sender_name: caller.displayName,
          sender_role: senderRole(session, caller.userId),
          body,
          client_message_id: clientMessageId ?? null,
          created_at: at,
        })
        .returningAll()
        .executeTakeFirstOrThrow()
      const message = messageView(row)
      await appendToLog(tx, {
        sessionId: session.id,
        seq: taken.event_seq,
        type: 'chat.message',
        at,
        data: { message_id: row.id },
        told: { ...message },
      })
      return message
    })
  }

  return {
    /**
     * Sends a message; when it returns, the message is stored. Repeating a `clientMessageId` returns the
     * message that was stored first, so a sender in doubt may simply send again.
     */
    async send(
      caller: Caller,
      sessionId: string,
      body: string,
      clientMessageId: string | undefined,
    ): Promise<{ message: ChatMessage; created: boolean }> {
      const session = await queries.get(caller, sessionId)
      try {
        return { message: await insert(caller, session, body, clientMessageId), created: true }
      } catch (cause) {
        if (uniqueViolation(cause) !== 'messages_client_id' || clientMessageId === undefined) throw cause
        const first = await sentBefore(sessionId, caller.userId, clientMessageId, body)
        if (!first) throw cause
        return { message: messageView(first), created: false }
      }
    },

    /** Messages numbered above `after`, oldest first. */
    async list(caller: Caller, sessionId: string, after: number, limit: number): Promise<ChatMessage[]> {
      await queries.get(caller, sessionId)
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
