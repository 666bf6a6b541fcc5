import type { Middleware } from 'koa'
import type { CoreServices } from '../../core/core-services.ts'
import type { Endpoint } from '../../core/http/endpoint.ts'
import { createDomains } from './domain.service.ts'
import { provisioningEndpoints } from './provisioning.routes.ts'
import { scimRoutes } from './scim.routes.ts'
import { createScim } from './scim.service.ts'
import { createScimTokens } from './scim-token.service.ts'

/** Creates the services with which identity providers of organizations provision members. */
export const createProvisioning = (core: CoreServices) => ({
  domains: createDomains(core),
  scim: createScim(core),
  scimTokens: createScimTokens(core),
})
export type Provisioning = ReturnType<typeof createProvisioning>

/** Returns the endpoints with which owners set provisioning up. */
export const provisioningRoutes = (provisioning: Provisioning): Endpoint[] =>
  provisioningEndpoints(provisioning)

/** Returns the SCIM server, whose requests, errors and media type are those of its standard. */
export const scimServer = (provisioning: Provisioning, core: CoreServices): Middleware =>
  scimRoutes({ ...core, ...provisioning })
