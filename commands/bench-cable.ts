/** The cable between the simulated car and its unit. The user can unplug it on the page. */
import type { FrameBatch, FrameSender, FrameSource, OutgoingFrame } from '../agent/ports.ts';
import { VigieError } from '../protocol/errors.ts';

export class BenchCable implements FrameSource, FrameSender {
  readonly #car: FrameSource & FrameSender;
  /** False while unplugged: no frame passes between the car and the unit, and the car keeps driving alone. */
  plugged = true;

  constructor(car: FrameSource & FrameSender) {
    this.#car = car;
  }

  get buses(): readonly string[] {
    return this.#car.buses;
  }

  start(receive: (batch: FrameBatch) => void): Promise<void> {
    return this.#car.start((batch) => {
      if (this.plugged) receive(batch);
    });
  }

  stop(): Promise<void> {
    return this.#car.stop();
  }

  /** Sends a frame to the car. Rejects with `command.actuation` while unplugged, and with the errors of the car. */
  async send(frame: OutgoingFrame): Promise<void> {
    if (!this.plugged) {
      throw new VigieError('command.actuation', 'the frame was not sent: the car is unplugged', { where: frame.bus });
    }
    await this.#car.send(frame);
  }
}
