import { idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { line, prose, timestamp } from '../../core/http/fields.ts'

export const CertificationStatus = z.enum(['PENDING', 'APPROVED', 'REJECTED', 'REVOKED']).meta({
  id: 'CertificationStatus',
  description: 'PENDING until an admin decides. REVOKED after it was APPROVED.',
})
export type CertificationStatus = z.infer<typeof CertificationStatus>

/** Body of POST /api/operator/certifications. */
export const RequestCertification = z.strictObject({
  robot_type: line(100).meta({ examples: ['so-101'] }),
  note: prose(2_000)
    .meta({ examples: ['Two years with this arm'] })
    .optional(),
})
export type RequestCertification = z.infer<typeof RequestCertification>

const reason = { examples: ['Please repeat the safety course first'] }

/** Body of POST /api/admin/certifications/{id}/reject and …/revoke. The operator sees the reason. */
export const ReasonBody = z
  .strictObject({ reason: prose(2_000).trim().min(1, 'must not be empty').meta(reason) })
  .meta({ id: 'CertificationReason', description: 'Why a certification is rejected or revoked.' })

export const CertificationView = z
  .object({
    id: idOf('certification'),
    robot_type: z.string().meta({ examples: ['so-101'] }),
    status: CertificationStatus,
    note: z
      .string()
      .nullable()
      .meta({ description: 'Note of the operator.', examples: ['Two years with this arm'] }),
    reason: z
      .string()
      .nullable()
      .meta({ description: 'Why an admin rejected or revoked it.', examples: [null] }),
    requested_at: timestamp.meta({ examples: ['2026-09-15T07:45:00.000Z'] }),
    decided_at: timestamp.nullable().meta({ examples: [null] }),
  })
  .meta({ id: 'Certification', description: 'A request to be certified for a robot type, and its outcome.' })

/** A certification with its operator, as admins see it. */
export const CertificationRequest = CertificationView.extend({
  operator_id: idOf('operator'),
  operator_name: z.string().meta({ examples: ['Grace'] }),
}).meta({ id: 'CertificationRequest', description: 'A certification and its operator, for admins.' })
