import type { Selectable } from 'kysely'
import { z } from 'zod'
import { camelKeys } from '../../core/database/camel-keys.ts'
import { iso } from '../../core/database/iso.ts'
import type { Tables } from '../../core/database/tables.ts'
import { type Endpoint, endpoint, idParams } from '../../core/http/endpoint.ts'
import { credentialOf } from '../../core/permissions/authorization.ts'
import {
  CertificationRequest,
  CertificationStatus,
  CertificationView,
  ReasonBody,
  RequestCertification,
} from './certification.schema.ts'
import type { Certifications } from './certification.service.ts'
import type { Certification } from './operators.entity.ts'

type Row = Selectable<Tables['certifications']>
type Shown = Pick<
  Certification,
  'id' | 'robotType' | 'status' | 'note' | 'reason' | 'requestedAt' | 'decidedAt'
>

const view = (certification: Shown): z.infer<typeof CertificationView> => ({
  id: certification.id,
  robot_type: certification.robotType,
  status: certification.status ?? 'PENDING',
  note: certification.note ?? null,
  reason: certification.reason ?? null,
  requested_at: iso(certification.requestedAt),
  decided_at: iso(certification.decidedAt ?? null),
})
const requestView = (row: Row & { operator_name: string }): z.infer<typeof CertificationRequest> => ({
  ...view(camelKeys(row)),
  operator_id: row.operator_id,
  operator_name: row.operator_name,
})

/** Returns the routes of certifications: operators request them, admins decide. */
export function certificationEndpoints(deps: { certifications: Certifications }): Endpoint[] {
  const { certifications } = deps
  return [...operatorEndpoints(certifications), ...adminEndpoints(certifications)]
}

function operatorEndpoints(certifications: Certifications): Endpoint[] {
  const access = { role: 'operator' } as const
  return [
    endpoint({
      method: 'get',
      path: '/api/operator/certifications',
      list: true,
      summary: 'Lists your certification requests and their status',
      access,
      response: [200, z.object({ certifications: z.array(CertificationView) })],
      run: async ({ caller }) => ({
        certifications: (await certifications.list(caller.userId)).map(view),
      }),
    }),
    endpoint({
      method: 'post',
      path: '/api/operator/certifications',
      summary: 'Requests certification for a robot type',
      access: { ...access, person: true },
      body: RequestCertification,
      response: [201, CertificationView],
      errors: {
        409: {
          certification_exists: 'when a certification for this robot type is already pending or approved',
        },
      },
      run: async ({ caller, body }) => view(await certifications.request(caller.userId, body)),
    }),
  ]
}

function adminEndpoints(certifications: Certifications): Endpoint[] {
  const access = { role: 'admin' } as const
  const params = idParams('certification')
  return [
    endpoint({
      method: 'get',
      path: '/api/admin/certifications',
      list: true,
      summary: 'Lists certification requests, oldest first; with the status of a decision, newest first',
      access,
      query: z.strictObject({ status: CertificationStatus.optional() }),
      response: [200, z.object({ certifications: z.array(CertificationRequest) })],
      run: async ({ query }) => ({
        certifications: (await certifications.listAll(query.status)).map(requestView),
      }),
    }),
    endpoint({
      method: 'post',
      path: '/api/admin/certifications/{id}/approve',
      summary: 'Approves a certification request',
      access,
      params,
      response: [200, CertificationRequest],
      example: { status: 'APPROVED', decided_at: '2026-09-16T09:10:00.000Z' },
      errors: { 409: { certification_already_decided: 'when the request is already decided' } },
      run: async ({ caller, params }) =>
        requestView(
          await certifications.decide(caller.userId, params.id, { status: 'APPROVED' }, credentialOf(caller)),
        ),
    }),
    endpoint({
      method: 'post',
      path: '/api/admin/certifications/{id}/reject',
      summary: 'Rejects a certification request, with a reason that is shown to the operator',
      access,
      params,
      body: ReasonBody,
      response: [200, CertificationRequest],
      example: { status: 'REJECTED', decided_at: '2026-09-16T09:10:00.000Z', reason: 'No proof of training' },
      errors: { 409: { certification_already_decided: 'when the request is already decided' } },
      run: async ({ caller, params, body }) =>
        requestView(
          await certifications.decide(
            caller.userId,
            params.id,
            { status: 'REJECTED', reason: body.reason },
            credentialOf(caller),
          ),
        ),
    }),
    endpoint({
      method: 'post',
      path: '/api/admin/certifications/{id}/revoke',
      summary: 'Revokes a certification, with a reason that is shown to the operator; open sessions continue',
      access,
      params,
      body: ReasonBody,
      response: [200, CertificationRequest],
      example: {
        status: 'REVOKED',
        decided_at: '2026-09-16T09:10:00.000Z',
        reason: 'The training has expired',
      },
      errors: { 409: { certification_not_approved: 'when the certification is not approved' } },
      run: async ({ caller, params, body }) =>
        requestView(await certifications.revoke(caller.userId, params.id, body.reason, credentialOf(caller))),
    }),
  ]
}
