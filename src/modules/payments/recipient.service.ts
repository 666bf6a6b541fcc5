import type Stripe from 'stripe'
import { conflict } from '../../core/errors/errors.ts'
import type { Tx } from '../../core/events/transactor.ts'
import { asciiAddress } from '../../core/http/email-address.ts'
import type { Users } from '../identity/index.ts'
import type { StripeAccounts } from './stripe-accounts.ts'
import { isMissing, requireText, type StripeClient, withStripeErrors } from './stripe-client.ts'
import type { StripeEventRef, StripeSync } from './stripe-sync.ts'

const CURRENCY = 'eur'
/** Where the payment provider sends a browser whose link has expired or was used; under `baseUrl`. */
export const ONBOARDING_PATH = '/auth/payouts'

/** How an operator's connected account stands, as the provider says now. */
export interface RecipientStatus {
  readonly connected: boolean
  readonly accountId: string | null
  /** Whether transfers to it are possible. */
  readonly payoutsEnabled: boolean
  /** What the provider still wants to know, in its own words; nothing while it only checks by itself. */
  readonly requirements: string[]
}

const notConnected: RecipientStatus = {
  connected: false,
  accountId: null,
  payoutsEnabled: false,
  requirements: [],
}

/** The profiles of operators, which the operators module keeps. */
export interface OperatorProfileReader {
  get(userId: string): Promise<{ country: string | null }>
}

/** Operators at the payment provider: connected accounts that earnings are transferred to. */
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
        'Your operator profile names no country, which decides how you can be paid. Choose it in your profile first.',
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

  /** What the provider says of an account now; undefined when it has none of that id. */
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

  /** Takes over how an account stands, whether or not an event of the provider says that it changed. */
  async function refreshFromStripe(accountId: string, event?: StripeEventRef): Promise<RecipientStatus> {
    const account = await stripeSync.refreshFromStripe(
      accountId,
      () => withStripeErrors(fetchAccount(accountId)),
      async (tx, now) => {
        const userId = await accounts.userOf('recipient', accountId, tx.db)
        if (userId === undefined) return
        if (now === undefined) await accounts.forget('recipient', userId, accountId, tx.db)
        await savePayoutReadiness(tx, userId, now !== undefined && statusOf(now).payoutsEnabled)
      },
      event,
    )
    return account ? statusOf(account) : notConnected
  }

  /** Notes whether an operator can be paid, as their profile tells. */
  async function savePayoutReadiness(tx: Tx, userId: string, ready: boolean): Promise<void> {
    const readyAt = ready ? now() : null
    await tx.db
      .insertInto('operator_profiles')
      .values({ user_id: userId, payout_ready_at: readyAt, created_at: now() })
      .onConflict((clash) =>
        clash.column('user_id').doUpdateSet((eb) => ({
          payout_ready_at: ready
            ? eb.fn.coalesce('operator_profiles.payout_ready_at', eb.val(readyAt))
            : null,
        })),
      )
      .execute()
  }

  return {
    refreshFromStripe,

    /** As the provider says now; noted for the profile. @throws 502, 503 */
    async status(userId: string): Promise<RecipientStatus> {
      const accountId = await accounts.find('recipient', userId)
      return accountId === undefined ? notConnected : await refreshFromStripe(accountId)
    },

    /**
     * A page of the provider on which the operator tells it what it has to know. It works once and for minutes.
     * @throws 409 the profile has no country; 502, 503
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
  const wanted = (account.requirements?.entries ?? []).filter(
    (entry) => entry.awaiting_action_from === 'user' && entry.minimum_deadline.status !== 'eventually_due',
  )
  return {
    connected: true,
    accountId: account.id,
    payoutsEnabled: account.closed !== true && transfers?.status === 'active',
    requirements: [...new Set(wanted.map((entry) => entry.description))],
  }
}
