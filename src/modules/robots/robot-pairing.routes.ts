import { iso } from '../../core/database/iso.ts'
import { type Endpoint, endpoint, idParams } from '../../core/http/endpoint.ts'
import { PAIRING_CODE_MINUTES, PairedRobot, PairingCode, PairRobot } from './robot-pairing.schema.ts'
import type { RobotPairings } from './robot-pairing.service.ts'

/** Returns the endpoint that creates a pairing code, and the public one that exchanges it for the robot's token. */
export function robotPairingEndpoints(
  { robotPairings }: { readonly robotPairings: RobotPairings },
  gatewayUrl: () => string,
): Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: '/api/client/robots/{id}/pairing-code',
      summary: `Creates a pairing code for one of your robots, valid once and for ${PAIRING_CODE_MINUTES} minutes`,
      access: { role: 'client' },
      params: idParams('robot'),
      response: [201, PairingCode],
      run: async ({ caller, params, http }) => {
        const { code, expiresAt } = await robotPairings.createCode(caller.userId, params.id)
        http.set('Cache-Control', 'no-store')
        return { code, expires_at: iso(expiresAt) }
      },
    }),
    endpoint({
      method: 'post',
      path: '/api/pairing',
      summary: 'Exchanges a pairing code for the address and the token of its robot, once',
      access: 'public',
      publicLimit: 'pairing',
      body: PairRobot,
      response: [200, PairedRobot],
      errors: {
        404: { pairing_code_invalid: 'when the code is unknown, has expired or was replaced' },
        409: { pairing_code_used: 'when the code was used before' },
      },
      run: async ({ body, http }) => {
        const { robotId, name, token } = await robotPairings.exchange(body.code)
        http.set('Cache-Control', 'no-store')
        return {
          robot_id: robotId,
          name,
          control_url: `${gatewayUrl()}/robots/${robotId}/control`,
          robot_token: token,
        }
      },
    }),
  ]
}
