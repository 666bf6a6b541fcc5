import type Stripe from 'stripe'
import { conflict } from '../../core/errors/errors.ts'
import type { Tx } from '../../core/events/transactor.ts'
import { asciiAddress } from '../../core/http/email-address.ts'
import type { Users } from '../identity/index.ts'
import type { StripeAccounts } from './stripe-accounts.ts'
import { isMissing, requireText, type StripeClient, withStripeErrors } from './stripe-client.ts'
import type { StripeEventRef, StripeSync } from './stripe-sync.ts'

const CURRENCY = 'eur'
/** The path to which Stripe redirects a browser whose link has expired or was used. */
export const ONBOARDING_PATH = '/auth/payouts'

/** The state of an operator's connected account, as Stripe currently reports it. */
export interface RecipientStatus {
  readonly connected: boolean
  readonly accountId: string | null
  /** Whether the account can receive transfers. */
  readonly payoutsEnabled: boolean
  /** The information that Stripe requires from the operator, in Stripe's words; empty while Stripe verifies the account. */
  readonly requirements: string[]
}

const notConnected: RecipientStatus = {
  connected: false,
  accountId: null,
  payoutsEnabled: false,
  requirements: [],
}

/** Reads operator profiles, which the operators module owns. */
export interface OperatorProfileReader {
  get(userId: string): Promise<{ country: string | null }>
}

/** Creates the service for operators' connected Stripe accounts, which receive earnings. */
export function createRecipients(deps: {
  stripe: StripeClient
  accounts: StripeAccounts
  users: Users
  operatorProfiles: OperatorProfileReader
  stripeSync: StripeSync
  now: () => Date
  baseUrl: string
}) {
  const { stripe, accounts, users, operatorProfiles, stripeSync, now, baseUrl } = deps

  async function buildAccountParams(userId: string) {
    const [user, profile] = await Promise.all([users.byId(userId), operatorProfiles.get(userId)])
    if (profile.country === null) {
      throw conflict(
        'country_missing',
        'Your operator profile has no country, which payouts require. Set it in your profile first.',
      )
    }
    const email = user.email ? asciiAddress(user.email) : undefined
    return {
      ...(email !== undefined && { contact_email: email }),
      display_name: user.display_name,
      dashboard: 'express' as const,
      identity: { country: profile.country.toLowerCase(), entity_type: 'individual' as const },
      configuration: {
        recipient: { capabilities: { stripe_balance: { stripe_transfers: { requested: true } } } },
      },
      defaults: {
        currency: CURRENCY,
        responsibilities: {
          fees_collector: 'application' as const,
          losses_collector: 'application' as const,
        },
      },
      metadata: { user_id: userId },
    } satisfies Stripe.V2.Core.AccountCreateParams
  }

  const ensure = (userId: string): Promise<string> =>
    accounts.ensure(
      'recipient',
      userId,
      () => buildAccountParams(userId),
      (request, idempotencyKey) => stripe.v2.core.accounts.create(request, { idempotencyKey }),
    )

  async function link(account: string): Promise<string> {
    const { url } = await stripe.v2.core.accountLinks.create({
      account,
      use_case: {
        type: 'account_onboarding',
        account_onboarding: {
          refresh_url: `${baseUrl}${ONBOARDING_PATH}`,
          return_url: `${baseUrl}/dashboard/earnings`,
        },
      },
    })
    return requireText(url, 'url')
  }

  /** Returns an account from Stripe, or undefined if it does not exist. */
  async function fetchAccount(accountId: string): Promise<Stripe.V2.Core.Account | undefined> {
    const include = ['configuration.recipient', 'requirements'] as const
    try {
      const account = await stripe.v2.core.accounts.retrieve(accountId, { include: [...include] })
      requireText(account.id, 'id')
      return account
    } catch (cause) {
      if (isMissing(cause)) return undefined
      throw cause
    }
  }

  /** Reads an account from Stripe and saves its state, with or without an event. */
  async function refreshFromStripe(accountId: string, event?: StripeEventRef): Promise<RecipientStatus> {
    const account = await stripeSync.refreshFromStripe(
      accountId,
      () => withStripeErrors(fetchAccount(accountId)),
      async (tx, current) => {
        const userId = await accounts.userOf('recipient', accountId, tx.db)
        if (userId === undefined) return
        if (current === undefined) await accounts.forget('recipient', userId, accountId, tx.db)
        await savePayoutReadiness(tx, userId, current !== undefined && statusOf(current).payoutsEnabled)
      },
      event,
    )
    return account ? statusOf(account) : notConnected
  }

  /** Saves in the operator's profile whether the operator can be paid. */
  async function savePayoutReadiness(tx: Tx, userId: string, isReady: boolean): Promise<void> {
    const readyAt = isReady ? now() : null
    await tx.db
      .insertInto('operator_profiles')
      .values({ user_id: userId, payout_ready_at: readyAt, created_at: now() })
      .onConflict((conflict) =>
        conflict.column('user_id').doUpdateSet((eb) => ({
          payout_ready_at: isReady
            ? eb.fn.coalesce('operator_profiles.payout_ready_at', eb.val(readyAt))
            : null,
        })),
      )
      .execute()
  }

  return {
    refreshFromStripe,

    /** Reads the account's state from Stripe and saves it in the profile. @throws 502, 503 */
    async status(userId: string): Promise<RecipientStatus> {
      const accountId = await accounts.find('recipient', userId)
      return accountId === undefined ? notConnected : await refreshFromStripe(accountId)
    },

    /**
     * Returns a Stripe page on which the operator enters the required information. The link works once and expires after
     * a few minutes.
     * @throws 409 if the profile has no country; 502, 503
     */
    async onboard(userId: string): Promise<{ url: string }> {
      const accountId = await withStripeErrors(ensure(userId))
      const url = await withStripeErrors(
        link(accountId).catch(async (cause) => {
          if (!isMissing(cause)) throw cause
          await accounts.forget('recipient', userId, accountId)
          return await link(await ensure(userId))
        }),
      )
      return { url }
    },
  }
}
export type Recipients = ReturnType<typeof createRecipients>

function statusOf(account: Stripe.V2.Core.Account): RecipientStatus {
  const transfers = account.configuration?.recipient?.capabilities?.stripe_balance?.stripe_transfers
  const required = (account.requirements?.entries ?? []).filter(
    (entry) => entry.awaiting_action_from === 'user' && entry.minimum_deadline.status !== 'eventually_due',
  )
  return {
    connected: true,
    accountId: account.id,
    payoutsEnabled: account.closed !== true && transfers?.status === 'active',
    requirements: [...new Set(required.map((entry) => entry.description))],
  }
}
