import { type Endpoint, endpoint, idParams } from '../../../core/http/endpoint.ts'
import { ExtendSession, ExtensionReceipt } from '../record/session.schema.ts'
import type { Extensions } from './extension.service.ts'

export function extensionEndpoints({ extensions }: { extensions: Extensions }): Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: '/api/sessions/{id}/extend',
      summary: 'Requests an extension of your session; its operator approves or declines it',
      access: {}, // the client who owns the session, which is no matter of roles
      params: idParams('session'),
      body: ExtendSession,
      response: [200, ExtensionReceipt],
      errors: {
        403: 'when you are not the client of the session',
        409:
          'when the session is not ACTIVE, a request is already waiting, or another session on the robot or of the ' +
          'operator is planned for a part of those minutes',
      },
      run: async ({ caller, params, body }) => {
        const minutes = body.additionalMinutes
        await extensions.request(caller, params.id, minutes)
        return { message: `Asked the operator for ${minutes} more ${minutes === 1 ? 'minute' : 'minutes'}` }
      },
    }),
  ]
}
