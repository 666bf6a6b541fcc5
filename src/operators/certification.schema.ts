import { z } from 'zod'
import { line, prose, timestamp } from '../http/fields.ts'

/** PENDING until an admin decides. */
export const CertificationStatus = z.enum(['PENDING', 'APPROVED', 'REJECTED'])
export type CertificationStatus = z.infer<typeof CertificationStatus>

/** Body of POST /api/operator/certifications. */
export const RequestCertification = z.strictObject({
  robot_type: line(100),
  note: prose(2_000).optional(),
})
export type RequestCertification = z.infer<typeof RequestCertification>

export const CertificationView = z.object({
  id: z.uuid(),
  robot_type: z.string(),
  status: CertificationStatus,
  note: z.string().nullable(),
  requested_at: timestamp,
  decided_at: timestamp.nullable(),
})

/** An admin also sees whose request it is. */
export const CertificationRequest = CertificationView.extend({
  operator_id: z.uuid(),
  operator_name: z.string(),
})
