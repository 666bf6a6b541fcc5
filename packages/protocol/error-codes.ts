import { z } from 'zod'

/** The response header that carries the code of an error. */
export const ERROR_CODE_HEADER = 'Wheelhouse-Error'

/**
 * Describes each error code. A code names a condition that a program can react to; the text of the error says more, and
 * may change. A published code keeps its name and its meaning.
 */
export const errorCodeTexts = {
  // The request
  invalid_request: 'The path, a parameter, a header or the body is invalid; the text names the field.',
  malformed_request: 'The bytes are not one unambiguous HTTP request.',
  route_not_found: 'No route has this path.',
  not_found: 'The resource does not exist, or the caller may not see it.',
  method_not_allowed: 'The path does not support this method; the header `Allow` lists the methods.',
  not_acceptable: 'The route cannot produce a media type that the `Accept` header lists.',
  request_timeout: 'The request arrives too slowly.',
  payload_too_large: 'The request body is larger than the route accepts.',
  headers_too_large: 'The request headers are larger than the server accepts.',
  unsupported_media_type: 'The media type, character set or image format is not supported.',
  rate_limited: 'The caller has sent too many requests; `Retry-After` says how long to wait.',
  too_many_concurrent_requests: 'Too many requests of this caller are open at the same time.',

  // Idempotency
  idempotency_key_in_use: 'A request with this Idempotency-Key is still running.',
  idempotency_key_reused: 'The Idempotency-Key belongs to a request with another body.',
  idempotency_response_lost: 'The request with this Idempotency-Key was processed, but its response is lost.',
  client_message_id_reused: 'The clientMessageId belongs to another message.',

  // Video
  offer_rejected: 'The WebRTC offer is malformed, or offers nothing that the platform forwards.',
  offer_replaced: 'A newer offer of the same camera has replaced this one.',
  camera_offline: 'The camera is not sending.',
  camera_undecodable: 'The camera sends a stream that no viewer can decode, for the reason in the message.',
  camera_limit_reached: 'The robot has as many cameras as it may have.',
  camera_live: 'The camera is sending.',
  viewer_limit_reached: 'The camera has as many viewers as it may have.',
  no_media_server: 'No media server is running, or it did not answer in time.',
  ice_restart_unsupported: 'The platform does not restart ICE; a new offer is needed.',
  etag_mismatch: 'The If-Match header does not name the resource.',
  etag_required: 'The If-Match header is missing.',

  // Control
  control_not_allowed: "The caller's part in the session does not include this change of control.",
  control_held: 'The caller controls the robot already.',
  control_vacant: 'Nobody controls the robot.',
  control_ineligible: 'The other user may not control the robot.',
  control_request_closed: 'The offer or request of control is not open any more.',
  control_request_limit_reached: 'Too many offers and requests of control wait in the session.',
  supervisor_busy: 'The supervisor controls as many robots as the organization allows.',

  // Recordings and datasets
  recording_in_progress: 'The session is still recorded.',
  recording_not_ready: 'The recording is not one file yet, or could not be finished.',
  share_invalid: 'The link is unknown, has expired or was revoked.',
  share_limit_reached: 'The recording has as many links as it may have.',
  bookmark_limit_reached: 'The recording has as many bookmarks as it may have.',
  episode_running: 'The session has an episode that has not ended.',
  session_not_recorded: 'The session is not recorded at this moment.',
  no_episode_running: 'The session has no episode that could end.',

  // Credentials
  unauthenticated: 'The request carries no credential, or the Authorization header is malformed.',
  token_invalid: 'The session token is invalid.',
  token_expired: 'The session token has expired.',
  api_key_invalid: 'The API key is unknown or incomplete.',
  api_key_expired: 'The API key has expired.',
  api_key_revoked: 'The API key is revoked.',
  robot_token_invalid: 'The robot token is missing or invalid.',
  pairing_code_invalid: 'The pairing code is unknown, has expired or was replaced.',
  pairing_code_used: 'The pairing code was used before.',
  ticket_invalid: 'The ticket is missing, invalid or expired.',
  ticket_used: 'The ticket was used before.',
  ticket_revoked: 'The permissions behind the ticket have ended or changed.',
  signature_invalid: 'The signature of a Stripe event is missing, wrong or too old.',

  // Permissions
  role_required: 'The caller, or the operator that the request names, lacks the required role.',
  role_removed: 'An administrator removed this role from the caller.',
  account_suspended: 'An administrator suspended the account of the caller; the text names the reason.',
  api_key_not_accepted: 'The route accepts session tokens only.',
  origin_not_allowed: 'The request comes from a web page of an origin that is not allowed.',
  host_not_allowed: 'The Host header does not name this platform.',
  session_owner_required: 'Only the owner of the robot may do this.',
  session_operator_required: 'Only the operator of the session may do this.',
  other_operator_not_allowed: 'Only an administrator may start a session for another operator.',
  action_not_allowed: 'The caller has a part in the session that does not include this action.',
  stop_clear_not_allowed: 'Only the owner of the robot or an administrator may clear this stop.',
  own_session_not_rateable: 'The owner of the robot operated the session.',
  certification_required: 'The robot requires an approved certification that the operator lacks.',
  robot_token_mismatch: 'The robot token belongs to another robot.',
  ticket_mismatch: 'The ticket belongs to another session, or to another part in it.',

  permission_required: 'The role of the caller in the organization does not include this.',
  service_account_not_accepted: 'The route is for people, and the caller is a service account.',
  personal_key_required: 'The route is about a person, and the API key belongs to a team.',
  scope_required: 'The API key does not have the scope that this needs.',
  organization_required:
    'The robot belongs to an organization of the caller, but the request acts for another one.',
  sign_in_required:
    'The organization requires another sign-in: with its own provider, or with that of the platform.',
  marketplace_operators_only: 'The robot is set to be driven by operators of the marketplace only.',

  // Organizations
  last_owner: 'The last owner of an organization cannot leave it or get another role.',
  personal_organization: 'A personal organization cannot do this.',
  already_member: 'The user is a member of the organization.',
  invitation_exists: 'The address has an invitation that is open.',
  invitation_invalid: 'The invitation is unknown, has expired or was used.',
  organization_limit_reached: 'The person or organization has as many of these as it may have.',
  service_account_limit_reached: 'The organization has as many service accounts as it may have.',
  api_key_not_rotatable: 'The API key has ended or has a successor.',
  domain_exists: 'The organization has this domain in its list.',
  domain_taken: 'The domain is a verified one of another organization.',
  domain_not_verified: 'The TXT record of the domain does not have the value.',
  domain_required: 'Single sign-on needs a verified domain of the organization.',
  issuer_not_usable: 'The issuer does not answer as an OpenID Connect provider; the text says why.',
  issuer_taken: 'The issuer is that of the platform.',
  client_secret_required: 'New settings of a provider need its client secret.',
  sign_in_not_used: 'No owner has signed in with the settings yet.',
  dns_unavailable: 'The name servers of the domain do not answer.',
  mapping_exists: 'The organization has a mapping for this name.',
  group_name_taken: 'Another group of the organization has this name.',

  grant_exists: 'The organization has access to data of this robot already.',

  // Deleting an account
  account_has_sessions: 'The account has open or scheduled sessions.',
  account_has_robots: 'The personal organization of the account has robots.',
  account_is_last_owner: 'The person is the last owner of an organization.',
  account_has_invoices: 'Sessions of the account are not invoiced or not paid yet.',
  account_has_balance: 'Money of the account is not paid out yet.',

  // Sign-in
  sign_in_cancelled: 'The user cancelled the sign-in.',
  sign_in_expired: 'The sign-in has expired, was completed before, or began in another browser.',
  sign_in_not_configured: 'The platform, or the organization, has no identity provider for sign-in.',
  sign_in_refused: 'The organization does not admit the person who signs in; the text says why.',
  cli_sign_in_not_configured: 'The platform does not support sign-in from the command line.',
  identity_provider_error: 'The identity provider returned an error or an unusable response.',
  identity_provider_unavailable: 'The identity provider is unreachable.',

  // Robots and operators
  hardware_id_taken: 'The hardware_id belongs to another robot.',
  robot_offline: 'The robot is not connected.',
  robot_in_session: 'The robot is in an open session.',
  robot_on_hold: 'The owner holds the robot back from sessions.',
  robot_out_of_service: 'The owner of the robot has left the platform.',
  robot_name_ambiguous: 'Several robots in open sessions have this name.',
  operator_busy: 'The operator has an open session.',
  booking_overlap: 'Another session of the robot or the operator is planned for a part of this time.',
  certification_exists: 'A certification for this robot type is already requested or approved.',
  certification_already_decided: 'The certification request is already approved or rejected.',
  certification_not_approved: 'The certification is not approved.',
  role_in_use: 'Open or scheduled sessions, or robots, still need the role.',
  own_account_suspension: 'Administrators cannot suspend themselves.',
  user_already_suspended: 'The user is already suspended.',
  user_not_suspended: 'The user is not suspended.',

  // Sessions
  session_not_scheduled: 'The session is not PENDING.',
  session_not_active: 'The session is not ACTIVE.',
  session_not_paused: 'The session is not PAUSED.',
  session_not_open: 'The session is neither ACTIVE nor PAUSED.',
  session_not_completed: 'The session is not COMPLETED.',
  session_already_rated: 'The session already has a rating.',
  stop_in_force: 'A remote stop of the robot is in force.',
  no_stop_in_force: 'No remote stop of the robot is in force.',
  stop_repeated: 'Another stop arrived while this request tried to clear the first one.',
  stop_clearable: 'The caller may clear the stop without asking.',
  stop_not_recorded:
    'The stop was sent to the gateway of the robot, but the database has not recorded it yet.',
  extension_pending: 'An extension request already waits for the operator.',
  no_extension_pending: 'No extension request waits for the operator.',
  export_too_large: 'The export has more sessions than an export may have.',
  storage_quota_exceeded: 'Recordings and exports of the caller take as much storage as they may.',
  export_limit_reached: 'As many exports of the caller run, or are stored, as may be.',
  export_not_ready: 'The export is not ready.',
  episode_not_exportable: 'An episode has no finished recording, or does not fit the others of an export.',
  subscription_limit_reached: 'The connection watches as many sessions as it may.',

  // API keys, webhooks and event streams
  api_key_limit_reached: 'The account has as many API keys as it may have.',
  webhook_limit_reached: 'The account has as many webhooks as it may have.',
  webhook_test_limit_reached: 'As many test deliveries of this webhook wait as may wait.',
  webhook_disabled: 'The webhook is disabled.',
  delivery_pending: 'The delivery has neither arrived nor failed yet.',
  cursor_gone: 'The platform no longer keeps the events after the cursor, or never issued the cursor.',

  // Payments
  payments_not_configured: 'The platform has no payment provider.',
  payment_provider_error: 'The payment provider rejected the request.',
  payment_provider_unavailable: 'The payment provider does not respond, or rejects the key of the platform.',
  payment_request_running: 'The same request is still running at the payment provider.',
  country_missing: 'The operator profile has no country.',
  payout_account_missing: 'The operator has no payout account.',
  payout_account_not_ready: 'The payout account is not ready for payouts.',
  payout_below_minimum: 'The amount is below the minimum of a payout.',
  insufficient_balance: 'The amount is above the available balance.',

  // Background jobs
  job_running: 'The job is running.',
  push_endpoint_taken: 'The push endpoint belongs to another user.',
  job_gone: 'The job has finished, or was discarded or retried.',
  job_required: 'The job cannot be discarded, because money waits for its result.',

  // The platform
  internal_error: 'The platform failed to answer the request.',
  contention: 'Too many requests change the same data at the same time.',
  database_unavailable: 'The database is unreachable.',
  disk_full: 'The disk of the platform is full.',
  storage_unavailable: 'The storage of recordings and exports does not respond.',
  overloaded: 'The platform processes as many requests of this kind as it can.',
  not_ready: 'The process is starting, is ending, or lacks a part that it needs.',
} as const

// The annotations let bundlers drop the texts from pages that only read the header.
const codes = /* @__PURE__ */ Object.keys(errorCodeTexts) as (keyof typeof errorCodeTexts)[]

/** The machine-readable code of an error. */
export const ErrorCode = /* @__PURE__ */ z.enum(codes)
export type ErrorCode = z.infer<typeof ErrorCode>
