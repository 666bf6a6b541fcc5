import { exampleIds, idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { timestamp } from '../../core/http/fields.ts'
import { SPELLED_CODE } from './pairing-code.ts'

/** How long a pairing code is valid. */
export const PAIRING_CODE_MINUTES = 10

const code = { examples: ['7KQ4M-XW9PD'] }

/** Response of POST /api/client/robots/{id}/pairing-code. */
export const PairingCode = z
  .object({
    code: z.string().meta({ ...code, description: 'The code to enter on the robot. It works once.' }),
    expires_at: timestamp,
  })
  .meta({
    id: 'PairingCode',
    description:
      `A code that a robot exchanges for its token, once, within ${PAIRING_CODE_MINUTES} minutes. A robot has one code: ` +
      'a newer code and a new token both invalidate it.',
  })

/** Body of POST /api/pairing. */
export const PairRobot = z.strictObject({
  code: z
    .string()
    .max(100)
    .regex(SPELLED_CODE, 'must be a pairing code: ten letters and digits, such as 7KQ4M-XW9PD')
    .meta({ ...code, description: 'The pairing code. Case, blanks and hyphens do not matter.' }),
})

/** Response of POST /api/pairing. */
export const PairedRobot = z
  .object({
    robot_id: idOf('robot'),
    name: z.string().meta({ examples: ['Warehouse arm'] }),
    control_url: z.string().meta({
      description: 'WebSocket URL that the robot connects to.',
      examples: [`wss://gateway.example.com/robots/${exampleIds.robot}/control`],
    }),
    robot_token: z.string().meta({
      description: 'The token with which the robot connects.',
      examples: [`${exampleIds.robot}.1.4f9d…`],
    }),
  })
  .meta({ id: 'PairedRobot', description: 'The address and the token of a robot that was paired.' })
