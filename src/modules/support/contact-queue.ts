import { randomUUID } from 'node:crypto'
import type { Selectable } from 'kysely'
import type { Tables } from '../../core/database/tables.ts'
import type { Transact } from '../../core/events/transactor.ts'
import { type ClaimedMail, createMailQueue, type MailQueueOptions } from '../../core/mail/mail-queue.ts'
import type { SendContact } from './contact.schema.ts'

export type ContactRow = Selectable<Tables['contact_messages']>
export type ClaimedContact = ClaimedMail<ContactRow>

/** Creates the queue of contact messages; its rows are the messages. */
export function createContactQueue(deps: MailQueueOptions & { transact: Transact }) {
  const { transact, now } = deps
  const { firstClaim, ...queue } = createMailQueue({ ...deps, table: 'contact_messages' })

  return {
    ...queue,

    /** Stores a message. With `claimed`, the caller holds the claim to send it first. */
    store: (input: SendContact, claimed: boolean): Promise<ContactRow> =>
      transact(
        async (tx) =>
          await tx.db
            .insertInto('contact_messages')
            .values({
              id: randomUUID(),
              ...input,
              created_at: now(),
              next_attempt_at: now(),
              ...(claimed && firstClaim()),
            })
            .returningAll()
            .executeTakeFirstOrThrow(),
      ),
  }
}
export type ContactQueue = ReturnType<typeof createContactQueue>
