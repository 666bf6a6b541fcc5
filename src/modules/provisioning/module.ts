import type { Middleware } from 'koa'
import type { CoreServices } from '../../core/core-services.ts'
import type { Endpoint } from '../../core/http/endpoint.ts'
import { createDomains } from './domain.service.ts'
import { provisioningEndpoints } from './provisioning.routes.ts'
import { scimRoutes } from './scim.routes.ts'
import { createScim } from './scim.service.ts'
import { createScimTokens } from './scim-token.service.ts'
import { signInEndpoints } from './sign-in.routes.ts'
import { createSignIns } from './sign-in.service.ts'
import { createSignInSettings, type Discover } from './sign-in-settings.service.ts'

/** Creates the services with which identity providers of organizations provision members. */
export const createProvisioning = (core: CoreServices, options: { readonly platformIssuer: string }) => ({
  domains: createDomains(core),
  scim: createScim(core),
  scimTokens: createScimTokens(core),
  signIns: createSignIns(core),
  signInSettings: createSignInSettings({ ...core, ...options }),
})
export type Provisioning = ReturnType<typeof createProvisioning>

/** Returns the endpoints with which owners set sign-in and provisioning up. */
export const provisioningRoutes = (
  provisioning: Provisioning,
  options: { readonly baseUrl: string; readonly discover: Discover },
): Endpoint[] => [...provisioningEndpoints(provisioning), ...signInEndpoints({ ...provisioning, ...options })]

/** Returns the SCIM server, whose requests, errors and media type are those of its standard. */
export const scimServer = (provisioning: Provisioning, core: CoreServices): Middleware =>
  scimRoutes({ ...core, ...provisioning })
