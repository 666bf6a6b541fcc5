import type { Tx } from '../events/transactor.ts'
import { conflict } from '../http/errors.ts'
import { enter, type Move, tell } from './session.changes.ts'

/** Decides the request that waits. The session's row is locked first, as by everything that touches requests. */
const decide =
  (status: 'APPROVED' | 'DECLINED'): Move =>
  async (tx, session, _robot, act) => {
    const open = await enter(tx, session.id, ['ACTIVE', 'PAUSED'])
    if (!open) throw conflict('The session is not open. Only an active or paused session can be extended.')
    const request = await tx.db
      .updateTable('session_extensions')
      .set({ status, decided_at: act.at })
      .where('session_id', '=', session.id)
      .where('status', '=', 'REQUESTED')
      .returning(['id', 'additional_minutes'])
      .executeTakeFirst()
    if (!request) throw conflict('No extension request is waiting. It was decided already, or never made.')
    const decided = status === 'APPROVED' ? await extend(tx, session.id, request.additional_minutes) : open
    await tell(tx, decided, session.robot_name, {
      ...act,
      type: status === 'APPROVED' ? 'extension.approved' : 'extension.declined',
      notifyUserIds: [decided.client_id],
      more: {
        extension_id: request.id,
        additional_minutes: request.additional_minutes,
        planned_minutes: decided.planned_minutes,
      },
    })
  }

export const approveExtension = decide('APPROVED')
export const declineExtension = decide('DECLINED')

/** A session without a plan counts as planned for 0 minutes so far. */
async function extend(tx: Tx, sessionId: string, minutes: number) {
  return await tx.db
    .updateTable('sessions')
    .set((eb) => ({ planned_minutes: eb(eb.fn.coalesce('planned_minutes', eb.lit(0)), '+', minutes) }))
    .where('id', '=', sessionId)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Nobody decides any more on a request whose session has ended, in the transaction that ended it. */
export async function expireExtension(tx: Tx, sessionId: string, at: Date): Promise<void> {
  await tx.db
    .updateTable('session_extensions')
    .set({ status: 'EXPIRED', decided_at: at })
    .where('session_id', '=', sessionId)
    .where('status', '=', 'REQUESTED')
    .execute()
}
