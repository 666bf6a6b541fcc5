import { z } from 'zod'
import { type Endpoint, endpoint, IdParams } from '../http/endpoint.ts'
import type { Extensions } from './extension.service.ts'
import { ExtendSession } from './session.schema.ts'

export function extensionEndpoints({ extensions }: { extensions: Extensions }): Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: '/api/sessions/{id}/extend',
      summary: 'Asks the operator of your session for more time; they approve or decline',
      access: {}, // the client who owns the session, which is no matter of roles
      params: IdParams,
      body: ExtendSession,
      answer: [200, z.object({ message: z.string() })],
      refusals: {
        403: 'you are not the client of the session',
        409: 'the session is not ACTIVE, or a request is already waiting',
      },
      run: async ({ caller, params, body }) => {
        const minutes = body.additionalMinutes
        await extensions.request(caller, params.id, minutes)
        return { message: `Asked the operator for ${minutes} more ${minutes === 1 ? 'minute' : 'minutes'}` }
      },
    }),
  ]
}
