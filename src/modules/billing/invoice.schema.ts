import { ControlKind, idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { queryInteger, timestamp } from '../../core/http/fields.ts'
import { CURRENCY } from './money.ts'

export const InvoiceStatus = z.enum(['DRAFT', 'OPEN', 'PAID', 'FAILED', 'VOID']).meta({
  id: 'InvoiceStatus',
  description:
    'DRAFT until it is issued; OPEN until it is PAID; FAILED when collecting it failed; VOID when it was withdrawn.',
  examples: ['OPEN'],
})
export type InvoiceStatus = z.infer<typeof InvoiceStatus>

const whole = z.number().int()

export const InvoiceView = z
  .object({
    id: idOf('invoice'),
    month: z.string().meta({ description: 'YYYY-MM, in UTC.', examples: ['2026-10'] }),
    status: InvoiceStatus,
    currency: z.literal(CURRENCY),
    billing_name: z
      .string()
      .nullable()
      .meta({
        description: 'Your company or name when the invoice was issued; it does not change. Null in a DRAFT.',
        examples: ['Fjord Logistics AS'],
      }),
    billing_country: z
      .string()
      .nullable()
      .meta({ description: 'From your profile when the invoice was issued.', examples: ['NO'] }),
    billing_vat_id: z
      .string()
      .nullable()
      .meta({ description: 'From your profile when the invoice was issued.', examples: ['NO923609016MVA'] }),
    total_cents: whole.meta({ description: 'In cents.', examples: [14_200] }),
    session_count: whole.meta({ examples: [11] }),
    minutes: whole.meta({ description: 'Billed minutes.', examples: [284] }),
    issued_at: timestamp.nullable().meta({ examples: ['2026-11-01T00:00:04.000Z'] }),
    paid_at: timestamp.nullable().meta({ examples: [null] }),
    hosted_url: z
      .string()
      .nullable()
      .meta({
        description: 'URL of the hosted invoice at the payment provider; null until it exists.',
        examples: [null],
      }),
  })
  .meta({ id: 'Invoice', description: 'The charges of the sessions that ended in a month.' })
export type InvoiceView = z.infer<typeof InvoiceView>

export const InvoiceLine = z
  .object({
    session_id: idOf('session'),
    robot_name: z
      .string()
      .meta({ description: 'Name of the robot when the session ended.', examples: ['Warehouse arm'] }),
    robot_type: z.string().meta({ examples: ['so-101'] }),
    operator_name: z
      .string()
      .meta({ description: 'Name of the operator when the session ended.', examples: ['Ola Nordmann'] }),
    started_at: timestamp,
    ended_at: timestamp,
    minutes: whole.meta({ description: 'Billed minutes of control.', examples: [27] }),
    paused_seconds: whole.meta({ description: 'Not billed.', examples: [130] }),
    outage_seconds: whole.meta({
      description: 'Time in which the robot was unreachable. Not billed.',
      examples: [12],
    }),
    rate_cents_per_minute: whole.meta({ examples: [50] }),
    amount_cents: whole.meta({ examples: [1_350] }),
    driven: z
      .array(
        z.object({
          operator_name: z.string().meta({ description: 'The present name.', examples: ['Ola Nordmann'] }),
          kind: ControlKind,
          from: timestamp,
          to: timestamp,
          seconds: whole.meta({
            description: 'Time of driving, without pauses and outages.',
            examples: [840],
          }),
          rate_cents_per_minute: whole.meta({
            description: '0 for members, supervisors, owners and policies.',
            examples: [50],
          }),
          amount_cents: whole.meta({ description: 'Its part of the charge.', examples: [700] }),
        }),
      )
      .optional()
      .meta({
        description:
          'Who drove when, and what it cost; the first 100 changes. Only of sessions whose control changed hands.',
      }),
  })
  .meta({ id: 'InvoiceLine', description: 'The charge of one session on an invoice, and its calculation.' })

/** Query of GET /api/client/invoices/{id}: the page of lines. */
export const InvoiceLinesQuery = z.strictObject({
  limit: queryInteger(1, 100).default(100),
  offset: queryInteger(0, 1_000_000).default(0),
})
/** `session_count` is the number of lines. */
export const InvoiceDetail = z.object({ ...InvoiceView.shape, lines: z.array(InvoiceLine) })

export const InvoiceList = z.object({ invoices: z.array(InvoiceView) })
