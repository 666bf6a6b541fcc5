import { answerOf } from '@wheelhouse/sdk'
import type { Command } from 'commander'
import type { Context } from './context.ts'

/** The option of a command that acts for an organization. */
export interface InOrganization {
  readonly organization?: string
}

/** Adds the option that chooses the organization of a command. */
export const inOrganization = (command: Command): Command =>
  command.option('--organization <id>', 'id of the organization (default: your personal one)')

/** Returns the organization of a command, and the header with which requests act for it. */
export async function organizationOf(cli: Context, { organization }: InOrganization) {
  if (organization !== undefined)
    return { id: organization, headers: { 'Wheelhouse-Organization': organization } }
  return { id: (await answerOf(cli.rest.GET('/api/auth/profile'))).id, headers: {} }
}
