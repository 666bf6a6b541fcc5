import { closeCodes } from '@wheelhouse/protocol'

/** Why a connection of Foxglove is closed: those of the gateway, and those of recordings. */
export const closings = {
  protocolError: closeCodes.protocolError,
  tooFast: closeCodes.tooFast,
  credentialRevoked: closeCodes.credentialRevoked,
  permissionsChanged: closeCodes.ticketVoid,
  internalError: closeCodes.internalError,
  draining: closeCodes.draining,
  sessionOver: { code: closeCodes.sessionOver.code, reason: 'session over, connect again for its recording' },
  recordingNotReady: { code: 4425, reason: 'recording not ready, try again in a minute' },
  recordingMissing: { code: 4404, reason: 'the recording does not exist any more' },
} as const

export interface Closing {
  readonly code: number
  readonly reason: string
}
