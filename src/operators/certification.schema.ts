import { idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { line, prose, timestamp } from '../http/fields.ts'

export const CertificationStatus = z
  .enum(['PENDING', 'APPROVED', 'REJECTED'])
  .meta({ id: 'CertificationStatus', description: 'PENDING until an admin decides.' })
export type CertificationStatus = z.infer<typeof CertificationStatus>

/** Body of POST /api/operator/certifications. */
export const RequestCertification = z.strictObject({
  robot_type: line(100).meta({ examples: ['so-101'] }),
  note: prose(2_000)
    .meta({ examples: ['Two years with this arm'] })
    .optional(),
})
export type RequestCertification = z.infer<typeof RequestCertification>

export const CertificationView = z
  .object({
    id: idOf('certification'),
    robot_type: z.string().meta({ examples: ['so-101'] }),
    status: CertificationStatus,
    note: z
      .string()
      .nullable()
      .meta({ description: 'What the operator wrote.', examples: ['Two years with this arm'] }),
    requested_at: timestamp.meta({ examples: ['2026-09-15T07:45:00.000Z'] }),
    decided_at: timestamp.nullable().meta({ examples: [null] }),
  })
  .meta({ id: 'Certification', description: 'A request to be certified for a robot type, and its outcome.' })

/** An admin also sees whose request it is. */
export const CertificationRequest = CertificationView.extend({
  operator_id: idOf('operator'),
  operator_name: z.string().meta({ examples: ['Grace'] }),
}).meta({ id: 'CertificationRequest', description: 'A certification with whose it is, for admins.' })
