import { createPublicKey } from 'node:crypto'
import { idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { timestamp } from '../../../core/http/fields.ts'

/** Returns the schema of bytes in base64url, as browsers send them. */
const base64url = (bytes: number) =>
  z
    .string()
    .max(200)
    .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url without padding')
    .refine((text) => Buffer.from(text, 'base64url').length === bytes, `must be ${bytes} bytes`)

/** Returns whether bytes are an uncompressed point of the curve. Messages for any other one cannot be encrypted. */
function isP256Point(text: string): boolean {
  const bytes = Buffer.from(text, 'base64url')
  const [x, y] = [bytes.subarray(1, 33), bytes.subarray(33)].map((part) => part.toString('base64url'))
  try {
    createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '' }, format: 'jwk' })
    return bytes[0] === 4
  } catch {
    return false
  }
}

const endpoint = z.string().max(1_000)
const EXAMPLE_ENDPOINT = 'https://push.example.com/send/dGhpcyBpcyBhIHRva2Vu'

/** Body of POST /api/notifications/push/subscriptions: what `PushSubscription.toJSON()` returns in a browser. */
export const SubscribePush = z
  .strictObject({
    endpoint: endpoint.meta({
      description: 'The address of the push service for this browser.',
      examples: [EXAMPLE_ENDPOINT],
    }),
    expirationTime: z
      .number()
      .nullable()
      .optional()
      .meta({ description: 'Ignored.', examples: [null] }),
    keys: z
      .strictObject({
        p256dh: base64url(65).refine(isP256Point, 'must be a P-256 point'),
        auth: base64url(16),
      })
      .meta({
        description: 'The keys that encrypt messages to this browser.',
        examples: [
          {
            p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
            auth: 'BTBZMqHH6r4Tts7J_aSIgg',
          },
        ],
      }),
  })
  .meta({ id: 'SubscribePush', description: 'The push subscription of a browser.' })
export type SubscribePush = z.infer<typeof SubscribePush>

/** The platform's public key, which a browser needs to subscribe. */
export const PushKeyView = z
  .object({
    public_key: z.string().meta({
      description:
        'The VAPID key (RFC 8292) in base64url: the `applicationServerKey` of `pushManager.subscribe`.',
      examples: ['BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4'],
    }),
  })
  .meta({ id: 'PushKey', description: 'The key that browsers subscribe with.' })

/** A browser that receives the user's notifications. */
export const PushSubscriptionView = z
  .object({
    id: idOf('pushSubscription'),
    endpoint: endpoint.meta({ examples: [EXAMPLE_ENDPOINT] }),
    label: z.string().meta({
      description: 'The browser and its system, from the User-Agent header.',
      examples: ['Firefox on Linux'],
    }),
    created_at: timestamp,
    last_success_at: timestamp.nullable().meta({
      description: 'When the push service last accepted a notification.',
      examples: [null],
    }),
  })
  .meta({ id: 'PushSubscription', description: 'A browser that receives your notifications.' })
export type PushSubscriptionView = z.infer<typeof PushSubscriptionView>
