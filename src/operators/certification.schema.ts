import { z } from 'zod'

/** PENDING until an admin decides. */
export const CertificationStatus = z.enum(['PENDING', 'APPROVED', 'REJECTED'])
export type CertificationStatus = z.infer<typeof CertificationStatus>
