import type { Log } from '../../../core/log.ts'
import { ObjectMissingError } from '../../../core/storage/object-store.ts'
import type { ClientConnection } from './client-connection.ts'
import { closings } from './closings.ts'

/** Closes a connection whose recording cannot be read. */
export function closeUnreadable(connection: ClientConnection, cause: unknown, log: Log): void {
  if (!connection.isOpen) return
  if (cause instanceof ObjectMissingError) {
    connection.sendStatus('error', 'The recording was deleted.')
    connection.close(closings.recordingMissing)
    return
  }
  log.warn({ err: cause }, 'reading a recording failed')
  connection.sendStatus('error', 'The recording cannot be read now. Connect again later.')
  connection.close(closings.internalError)
}
