"""Who is a member of a board, and from when to when."""

from __future__ import annotations

from pushbench.conformance.rule import rule
from pushbench.conformance.whiteboard.clients import Clients


@rule("A join is acknowledged with the board and the user that joined, whatever 1 to 64 characters their names have.")
async def join_is_acknowledged(clients: Clients) -> None:
    for name in ("7", "a board: with a colon", "gr\u00fc\u00df-\u4f60\u597d", "n" * 64):
        await clients.member(name, user=name)


@rule("A client that was told `joined` receives every draw that anyone sends from then on.")
async def joined_means_subscribed(clients: Clients) -> None:
    await newcomers_receive(clients)


async def newcomers_receive(clients: Clients) -> None:
    """Each of 40 clients receives messages as soon as it is a member."""
    board = clients.board()
    artist = await clients.member(board)
    for _ in range(40):
        newcomer = await clients.member(board)
        await newcomer.receives(await artist.draw(board))


@rule("A second join of a board is acknowledged too and doubles no delivery.")
async def second_join_changes_nothing(clients: Clients) -> None:
    board = clients.board()
    artist, member = await clients.members(board, 2)
    await member.join(board)
    await member.receives(await artist.draw(board), await artist.draw(board))
    await member.receives_nothing()


@rule("A client may be a member of several boards over one connection.")
async def several_boards_on_a_connection(clients: Clients) -> None:
    boards = [clients.board() for _ in range(5)]
    member = await clients.member(*boards)
    for board in boards:
        artist = await clients.member(board)
        await member.receives(await artist.draw(board))


@rule("A client that left a board receives no more of its draws, keeps its other boards, and may join again.")
async def leaving_ends_deliveries(clients: Clients) -> None:
    left, kept = clients.board(), clients.board()
    artist = await clients.member(left, kept)
    member = await clients.member(left, kept)
    await member.leave(left)
    await member.join(clients.board())  # acknowledged only after the server has handled the leave
    await artist.draw(left)
    await member.receives(await artist.draw(kept))
    await member.receives_nothing()
    await member.join(left)
    await member.receives(await artist.draw(left))


@rule("A draw to a board that its sender has not joined, or has left, is an error and reaches nobody.")
async def drawing_needs_membership(clients: Clients) -> None:
    board, other = clients.board(), clients.board()
    member = await clients.member(board)
    stranger = await clients.member(other)
    await stranger.draw(board)
    await stranger.is_refused("a draw to a board that was not joined")
    await stranger.join(board)
    await stranger.leave(board)
    await stranger.draw(board)
    await stranger.is_refused("a draw to a board that was left")
    await stranger.join(board)
    await member.receives(await stranger.draw(board))


@rule("A user whose connection ended is no member; coming back, it joins and receives each draw once.")
async def closing_ends_membership(clients: Clients) -> None:
    board = clients.board()
    artist, witness = await clients.members(board, 2)
    for _ in range(3):
        member = await clients.member(board, user="returning-user")
        draw = await artist.draw(board)
        await member.receives(draw)
        await member.receives_nothing(0.03)
        await member.close()
        await witness.receives(draw, await artist.draw(board))  # so that it is delivered before the user returns
