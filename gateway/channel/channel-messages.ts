// The messages between the gateway and its channel process. `id` is the number of a data channel.

/** Settings of the channel process, given as its argument. */
export interface ChannelSettings {
  /** The address to listen on; undefined for all. */
  readonly bindAddress: string | undefined
  /** The UDP port of all channels. */
  readonly port: number
  /** The IP address that clients use, if it is not an address of this machine. */
  readonly publicAddress: string | undefined
}

export type ToChannelProcess =
  | { readonly type: 'offer'; readonly id: number; readonly sdp: string }
  | { readonly type: 'send'; readonly id: number; readonly frame: string | Uint8Array }
  | { readonly type: 'close'; readonly id: number }

export type FromChannelProcess =
  /** The UDP port could not be opened. The process has exited. */
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'answer'; readonly id: number; readonly sdp: string }
  | { readonly type: 'opened'; readonly id: number }
  | { readonly type: 'message'; readonly id: number; readonly frame: string | Uint8Array }
  | { readonly type: 'closed'; readonly id: number; readonly message?: string }
