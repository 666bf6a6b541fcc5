import { type Endpoint, endpoint, idParams } from '../../../core/http/endpoint.ts'
import { ExtendSession, ExtensionReceipt } from '../record/session.schema.ts'
import type { Extensions } from './extension.service.ts'

export function extensionEndpoints({ extensions }: { extensions: Extensions }): Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: '/api/sessions/{id}/extend',
      summary: 'Requests an extension of your session; its operator approves or declines it',
      access: { scope: 'sessions' }, // the service checks that the caller is the client of the session
      params: idParams('session'),
      body: ExtendSession,
      response: [200, ExtensionReceipt],
      errors: {
        403: { session_owner_required: 'when you are not the client of the session' },
        409: {
          session_not_active: 'when the session is not ACTIVE',
          extension_pending: 'when a request already waits for the operator',
          booking_overlap:
            'when another session on the robot or of the operator is planned for a part of those minutes',
        },
      },
      run: async ({ caller, params, body }) => {
        const minutes = body.additionalMinutes
        await extensions.request(caller, params.id, minutes)
        return { message: `Asked the operator for ${minutes} more ${minutes === 1 ? 'minute' : 'minutes'}` }
      },
    }),
  ]
}
