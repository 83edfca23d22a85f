/**
 * A link with short waits and observable events and log, and an observer at the broker that uses a third-party client.
 */
import { connectAsync, type IPublishPacket, type MqttClient } from 'mqtt';
import { MqttLink, type MqttLinkOptions } from '../../adapters/mqtt/index.ts';
import type { OutgoingMessage } from '../../agent/ports.ts';
import type { LogEvent, LogLevel } from '../../protocol/log-events.ts';
import { Arrivals } from './arrivals.ts';

export const vin = 'VF3VGEBENCH000001';
export const up = `vigie/1/${vin}/up/event`;
export const down = `vigie/1/${vin}/down/remote`;
export const presence = `vigie/1/${vin}/presence`;

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function text(payload: Uint8Array): string {
  return new TextDecoder().decode(payload);
}

export function message(payload: string, more: Partial<OutgoingMessage> = {}): OutgoingMessage {
  return { topic: up, payload: bytes(payload), retain: false, ...more };
}

export type LinkEvent =
  | { readonly kind: 'up' }
  | { readonly kind: 'down'; readonly reason: string }
  | { readonly kind: 'message'; readonly topic: string; readonly payload: string; readonly correlation?: string };

export class Car {
  readonly link: MqttLink;
  readonly events = new Arrivals<LinkEvent>();
  readonly log = new Arrivals<{ readonly level: LogLevel; readonly event: LogEvent; readonly fields: unknown }>();
  /** Called with each message after it was recorded. */
  onMessage: (payload: string) => void = () => undefined;

  constructor(url: string | readonly string[], options: Partial<MqttLinkOptions> = {}) {
    const record =
      (level: LogLevel) =>
      (event: LogEvent, fields?: Record<string, unknown>): void =>
        this.log.push({ level, event, fields });
    this.link = new MqttLink({
      url,
      vin,
      backoff: { first: 20, longest: 100 },
      log: { info: record('info'), warn: record('warn'), error: record('error') },
      ...options,
    });
  }

  /** Opens the link and resolves when it is up. */
  async start(): Promise<this> {
    this.open();
    await this.up();
    return this;
  }

  open(): void {
    this.link.open({
      up: () => this.events.push({ kind: 'up' }),
      down: (reason) => this.events.push({ kind: 'down', reason }),
      message: (topic, payload, correlation) => {
        const extra = correlation === undefined ? {} : { correlation: text(correlation) };
        this.events.push({ kind: 'message', topic, payload: text(payload), ...extra });
        this.onMessage(text(payload));
      },
    });
  }

  async up(): Promise<void> {
    await this.events.take((event) => event.kind === 'up');
  }

  async down(): Promise<string> {
    const event = await this.events.take(({ kind }) => kind === 'down');
    return event.kind === 'down' ? event.reason : '';
  }

  /** Returns the next message, or the next one with this payload. */
  async message(payload?: string): Promise<LinkEvent> {
    return this.events.take(
      (event) => event.kind === 'message' && (payload === undefined || event.payload === payload),
    );
  }

  /** Payloads of all messages so far. */
  messages(): readonly string[] {
    return this.events.all.flatMap((event) => (event.kind === 'message' ? [event.payload] : []));
  }
}

export interface Observed {
  readonly topic: string;
  readonly payload: string;
  readonly packet: IPublishPacket;
}

/** A client of the MQTT library with default settings, subscribed with QoS 1. */
export class Observer {
  readonly client: MqttClient;
  readonly seen = new Arrivals<Observed>();

  private constructor(client: MqttClient) {
    this.client = client;
    client.on('message', (topic, payload, packet) => this.seen.push({ topic, payload: text(payload), packet }));
  }

  static async connect(url: string, version: 4 | 5, filters: readonly string[] = []): Promise<Observer> {
    const observer = new Observer(await connectAsync(url, { protocolVersion: version, reconnectPeriod: 0 }, false));
    for (const filter of filters) await observer.client.subscribeAsync(filter, { qos: 1 });
    return observer;
  }

  async send(topic: string, payload: string | Buffer, correlation?: string): Promise<void> {
    await this.client.publishAsync(topic, payload, {
      qos: 1,
      ...(correlation === undefined ? {} : { properties: { correlationData: Buffer.from(correlation) } }),
    });
  }

  async close(): Promise<void> {
    await this.client.endAsync(true);
  }
}
