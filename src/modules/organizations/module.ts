import type { CoreServices } from '../../core/core-services.ts'
import type { Mailer } from '../../core/mail/mailer.ts'
import { createInvitations, INVITATION_MAILS } from './invitation.service.ts'
import { createOrganizationService } from './organization.service.ts'

/** Creates the services of organizations. Without a mailer, invitations are stored, and mailed once a mail server is configured. */
export function createOrganizations(core: CoreServices, options: { readonly mailer: Mailer | undefined }) {
  const invitations = createInvitations(core)
  core.jobs.register(INVITATION_MAILS, options.mailer && invitations.delivery(options.mailer))
  return { organizations: createOrganizationService(core), invitations }
}
