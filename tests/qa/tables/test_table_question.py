"""The rows that answer a question, and the questions that a table does not answer."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from qa.tables.table_question import select_rows
from qa.tables.whole_table import Row, WholeTable
from tests.qa.passages import stored


def table(name: str, *lines: str) -> WholeTable:
    """The table of a file; bars separate the cells of a line."""
    columns, *rows = ([cell.strip() for cell in line.split("|")] for line in lines)
    passage = stored("", path=name)
    return WholeTable(tuple(columns), tuple(Row(tuple(cells), passage, (0, 0)) for cells in rows))


SERVERS = table(
    "servers.csv",
    "host | os | memory (GB) | disk | owner | installed | hall",
    "boreas | Debian 12 | 64 | 2 TB | Ines Kranz | 2021-03-04 | 2",
    "notos | Debian 11 | 128 | 4 TB | Tom Abel | 2019-11-20 | 1",
    "euros | Ubuntu 22.04 | 32 | 500 GB | Ines Kranz | 2023-06-01 | 2",
    "zephyr | Windows Server | 256 | 8 TB | Mia Roth | 2020-01-15 | 3",
    "aither | Debian 12 | 16 | 250 GB | Tom Abel | 2018-05-30 | 1",
)
EXAMS = table("exams.md", "Exam | Form | Duration limit (h)", "Maths | written | 3", "French | oral | 1")
VEHICLES = table("vehicles.md", "Vehicle | 4 wheel drive | Fuel tank (l)", "Van 1 | no | 60", "Truck 3 | yes | 90")
ROOMS = table(
    "rooms.md",
    "Room | Floor | Seats | Projector | Equipment | Lift",
    "Alder | 1 | 8 | yes | whiteboard | yes",
    "Birch | 1 | 12 | no | whiteboard, camera | yes",
    "Cedar | 2 | 24 | yes | camera | yes",
    "Dogwood | 3 | 3 | no | | yes",
    "Elm | 3 | 60 | yes | camera, stage | yes",
)
OUTCOMES = table("breeze.md", "Outcome | 5 mg | 10 mg", "Primary outcome | 112 | 99", "Death | 40 | 38")
TRIALS = table(
    "trials.csv",
    "Trial | Country | Volume depletion (%) | Participants randomised",
    "BREEZE | Norway | 2.1 | 300",
    "GALE | Spain | 1.4 | 900",
)
BOATS = table(
    "boats.md",
    "No. | Model | Weight | Length | Price | Built | Age",
    "1 | Heron | 7.9 kg | 4.20 m | €1,250 | 2019 | 5",
    "2 | Merganser | 24 kg | 5.10 m | €980 | 2008 | 16",
    "3 | Petrel | 18.5 kg | 3.80 m | €2,100 | 2021 | 3",
    "4 | Loon | 31 kg | 6.00 m | €640 | 1997 | 27",
)
ENVELOPES = table(
    "envelopes.md",
    "No | Content | Changed",
    "4 | mobile numbers, private | in May",
    "5 | veil salt fingerprint (only the fingerprint!) | in June",
)
STAFF = table(
    "staff.json",
    "name | role | hours | joined | town",
    "Ada Lum | Engineer | 38 | 2015-02-01 | Oslo",
    "Bo Riis | Designer | 20 | 2022-09-12 | Bergen",
    "Cleo Strand | Engineer | 30 | 2018-07-03 | Oslo",
)
NUMBERED_STAFF = table(
    "staff.csv",
    "Staff no | Name | Department | Band | Joined",
    "1001 | Stefan Ruprecht | Management | E7 | 2009-01-01",
    "1002 | Jolanda Kreis | HR | E7 | 2016-05-01",
    "1003 | Leonie Brandt | Development | E5 | 2023-09-01",
)
ORDERS = table("orders.csv", "Order no | Customer ID | Total", "7 | K-21 | 90 EUR", "8 | K-9 | 40 EUR")
INVOICES = table(
    "invoices.html",
    "Invoice | Customer | Amount | Due | Status",
    "R-101 | Hartmann | 420.00 EUR | 12 March 2024 | paid",
    "R-102 | Linde | 1,310.50 EUR | 2 April 2024 | unpaid",
    "R-103 | Hartmann | 88.20 EUR | 30 January 2024 | paid",
)
TRIPS = table("trips.csv", "Remark | Boat | Distance", "windy | Heron | 12 km", "| Loon | 30 km", "calm | Teal | 4 km")
LOADS = table("loads.csv", "Weight | Crane", "5 t | North", "9 t | South")
DOGS = table("dogs.csv", "Dog | Age", "Bella | 3", "Max | 11")
BOOKS = table(
    "books.csv",
    "title | author | borrowed by | year",
    "Low Tide | Ivy Marsh | Omar | 2007",
    "Winter Bees | Tomas Held | | 2015",
)
BEDS = table("beds.md", "Bed | Tenant | Paid | Rent", "A1 | Marta | yes | €48", "A2 | Hoffmann | no | €60")
HIKES = table(
    "hikes.md", "Date | Route | Distance", "2024-04-14 | Ridge path | 14.2 km", "2024-06-02 | Lake loop | 9 km"
)
LUNCH = table(
    "lunch.md", "Day | Dish | Cook", "Mon | Lentil stew | Ada", "Tue | Fish pie | Ben", "Thu | Goulash | Carl"
)
SIGNED = table("forms.md", "Form | Signed | Due", "A1 | yes | March", "B7 | no | Apr")
TICKETS = table(
    "tickets.csv",
    "id | title | assignee | status | comment",
    "T-101 | Printer jams | Noor | open | Jo says that the toner was changed",
    "T-102 | VPN drops | Luis | closed | fixed",
    "T-103 | Laptop does not charge | Noor | open | waiting for the adapter",
)
RUNS = table(
    "log.txt", "Run | Model | Loss | Started", "17 | small | 0.61 | 3 May 2024", "18 | large | 0.47 | 9 May 2024"
)
EXPENSES = table(
    "expenses.csv",
    "date | payee | amount_eur",
    "2024-02-01 | Piotr Nowak | 2150.00",
    "2024-02-03 | Baker | 7.80",
    "2024-02-09 | Baker | 12.40",
)
GUIDES = table("guides.md", "Guide | Walk | Boat trip", "Lunt | €40 | €55", "Fenn | €35 | €70")
CRATES = table("courier prices.csv", "Courier | Up to 3 kg | Up to 8 kg", "Rook | 4.10 | 6.20", "Jay | 3.80 | 7.50")
PAYMENTS = table("payments.csv", "date | payee | amount", *(" | ".join(row.cells) for row in EXPENSES.rows))
SUBSCRIPTIONS = table(
    "subscriptions.md", "Service | Price per month", "Spotify | 10.99", "Guardian | 12.00", "Gym | 29.90"
)
# Statuses resemble the names of other columns.
JOBS = table(
    "jobs.csv",
    "ticket | status | opened | progress | assignee | priority",
    "T-1 | open | 2024-03-01 | 80 % | Ana | high",
    "T-2 | closed | 2024-03-02 | 100 % | Bo | low",
    "T-3 | open | 2024-04-02 | 3 % | Ana | low",
    "T-4 | in progress | 2024-04-09 | 4 % | Cy | high",
    "T-5 | not open | 2024-04-09 | 5 % | Bo | low",
)
DUTY = table(
    "duty.csv",
    "date | day doctor | night doctor | room number",
    "2025-11-03 | Weiss | Marchetti | 7",
    "2025-11-04 | Okafor | Weiss | 8",
)
READINGS = table("health.md", "Date | Blood pressure | Pulse", "2023-05-09 | 158/96 | 71", "2025-06-10 | 128/80 | 64")
WORKTOPS = table("worktops.csv", "Article | Wood | Stock", "W1 | oak | yes", "W2 | walnut | no", "W3 | ash | no")
BOXES = table("boxes.csv", "box | shelf | colour", "369 | 123 | red", "12 | 5 | red")
# What a machine is for says little about what it is.
MACHINES = table(
    "machines.csv",
    "host | role | software | memory (GB)",
    "kilo1 | print server | CUPS 2 | 8",
    "lima1 | mail server (spare) | Postfix 3 | 16",
    "mike1 | database | MariaDB 11 | 96",
    "mike2 | database | MariaDB 10 | 48",
    "nova1 | gateway | nginx 1 | 4",
)
# The kind of a thing says what it is, as does the position of a person.
FURNITURE = table(
    "stock.csv", "item | kind | price", "F1 | garden chair | 40", "F2 | office chair | 90", "F3 | oak table | 300"
)
PAY = table(
    "pay.csv", "name | role | salary", "Ida | senior engineer | 70", "Ole | junior engineer | 50", "Pia | chef | 90"
)
CASES = table(
    "work/cases-2031.csv",
    "id | subject | reporter | responsible | approver | state",
    "C-7 | Leak in the attic | Rita Foss | Omar Bly | Lena Kahn | open",
    "C-8 | Door sticks | Carl Juul | Rita Foss | Lena Kahn | closed",
    "C-9 | Mast of the ferry | Carl Juul | Omar Bly | Jan Oss | open",
)
CONTRACTS = table(
    "contracts/2031-q2.csv",
    "number | partner | manager | ends",
    "K-1 | Bluefin | Ada Moe | 2032-01-31",
    "K-2 | Redpoll | Tom Vik | 2033-05-31",
)
REPAIRS = table(
    "repairs.csv",
    "repair | status | owner",
    "roof | started | Ana",
    "wall | not yet started | Bo",
    "door | started | Bo",
)
MEMBERS = table(
    "members.csv",
    "name | category | squad",
    "Oliver Tan | junior | juniors",
    "Joan Silk | adult | seniors",
    "Ella Hart | junior | juniors",
    "Ben Okafor | student | seniors",
)
ROTA = table(
    "rota.csv",
    "date | launch duty | first aider",
    "7 June 2026 | Ben Okafor | Joan Silk",
    "13 June 2026 | Martin Feeley | Ben Okafor",
    "14 June 2026 | Ben Okafor | Martin Feeley",
)
CLASSES = table("classes.csv", "date | starts | class", "7 June 2026 | 10:00 | yoga", "8 June 2026 | 18:00 | judo")
PRICES = table("prices.md", "Service | 2023 | 2024", "Wash | €3.50 | €4.00", "Dry | €2.00 | €2.20")
FEES = table("hire.md", "Boat | Cost | Crew", "Teal | 20 | 2", "Loon | 30 | 4")
BARE_PRICES = table("laundry-prices.csv", "Service | 2023 | 2024", "Wash | 3.50 | 4.00", "Dry | 2.00 | 2.20")
USES = table("laundry.csv", "Service | 2023 | 2024", "Wash | 310 | 280", "Dry | 90 | 120")
SAW = table("saw.md", "Property | Value", "Operating pressure | 2.1 bar", "Noise level |", "Weight | 6 kg")
RELEASES = table("releases.md", "Version | Released", "3.9 | 2020-10-05", "3.10 | 2021-10-04")
CLUB = table("club.md", "Name | Age | Joined", "Ann | 34 | 2015-02-01", "Bob | 61 | 2019-03-01", "Cy | 45 | 2018-05-01")
ROUTES = table("routes.md", "Route | Duration", "bus | 4 h", "train | 2 h")
PAINTS = table("prices/paint.md", "Code | Colour | Litres", "RAL3003 | ruby red | 12", "RAL6005 | moss green | 8")
COSTS = table("costs.md", "Item | Cost", "Food | 900", "Rent | 300", "**Total** | **1200**")
SALES = table("sales.md", "Month | Shop | Total", "Jan | 90 | 94", "Feb | 80 | 85", "Total | 170 | 179")
TOPICS = table("topics.md", "Week | Topic", "3 | sets", "4 | maps", "5 | trees")
COURSES = table("courses.md", "Course | Start", "Judo | 3 June 2024", "Yoga | 5 July 2024", "Golf | 2 May 2024")
OUTINGS = table("outings.md", "Outing | Day", "Lake | 4 June", "Moor | 2 July")
OFFICES = table(
    "offices.csv",
    "Name | Team | Country | Remote | Salary",
    "Ann | IT | US | yes | 50",
    "Bob | HR | UK | yes | 60",
    "Cy | IT | UK | no | 90",
)
TOURS = table("tours.md", "Tour | Town | Month", "A1 | Oslo | May", "B2 | Oslo | June", "C3 | Oslo | 2 July")
PUMPS = table("pumps.md", "Pump | Town | Status", "P1 | Bergen | up", "P2 | Bergen | down", "P3 | Oslo | up")
FOODS = table(
    "foods.md", "Food | Gluten-free | No. of eggs | Traces", "Tofu | yes | 0 | nut-free", "Cake | no | 2 | nut, soy"
)
DUES = table("dues.md", "Member | Paid", "Ann | yes", "Bob | not yet", "Cy | pending", "Dee | no")
KIT = table("kit.md", "Room | Projector", "A1 | Epson", "B2 | no, it broke", "C3 | no")
LESSONS = table(
    "lessons.md", "Lesson | Price", "Judo | 8 EUR", "Yoga | 9 EUR", "Golf | free", "Polo | 12 EUR", "Swim | 14 EUR"
)
LAKES = table("lakes.md", "Lake | Area (km²) | Elevation (m)", "Ulm | 9 | 500", "Rax | 7 | 800")
BRIDGES = table("bridges.md", "Bridge | Length (m)", "Ulm | 900", "Rax | 70")
TALKS = table("talks.md", "Talk | Time", "Sets | 09:00", "Maps | 11:30")
RECIPES = table("recipes.md", "Recipe | Time", "Stew | 90 min", "Soup | 40 min")
PATIENTS = table("ward.md", "Patient | Admission date", "Ann | 2024-01-03", "Bob | 2024-02-03")
MENU = table("menu.md", "Dish | Vegan | Price", "Stew | yes | 9", "Soup | no | 4", "Salad | yes | 7")
SAMPLES = table("samples.md", "Sample | Toxic | Stock", "S1 | no | 4", "S2 | yes | 0", "S3 | unknown | out of stock")
FRIDGES = table("fridges.md", "Fridge | Warranty until", "Frost | 2026-03-04", "Polar | 2025-01-01")
CARS = table(
    "cars.md", "Car | Range (km) | Price | Deposit", "C1 | 900 | on request | 90 EUR", "C2 | 420 | ask | 40 EUR"
)
HIRE = table("bikes.md", "Bike | Deposit (EUR)", "Gull | 40", "Tern | 60")
# Words that only look alike: Ben is no developer, and Dag no designer.
TEAM = table(
    "team.md",
    "Person | Role | City | Joined | Manager",
    "Ana | developer | Oslo | 2016-01-01 | Ben",
    "Ben | head of development | Oslo | 2018-01-01 | ",
    "Cid | designer | Rome | 2015-01-01 | Dag",
    "Dag | design lead | Rome | 2020-01-01 | ",
    "Hal | junior developer | Rome | 2021-01-01 | Ben",
)
# A sheet per year, and salaries that are distinct by chance.
WAGES = table(
    "wages.xlsx",
    "Employee | Salary | Bonus | ",
    "Ada | 5000 | 90 | 2023",
    "Cem | 6100 | 90 | 2023",
    "Ada | 5200 | 80 | 2024",
    "Dee | 6900 | 80 | 2024",
)
CHORES = table(
    "chores.md",
    "Task | Owner | Status | Priority",
    "Fix boiler | Ana | open | high",
    "Order chairs | Ana | done | low",
    "Paint hall | Ben | done | low",
)
BILLS = table("bills.csv", "Bill | Amount | Paid", "B1 | 40 | yes", "B2 | 90 | no", "B3 | 70 | no")
HOTELS = table("hotels.md", "Hotel | Rating | Free parking", "Astor | 3.9/5 | yes", "Bristol | 4.7/5 | no")
TRAINS = table("trains.md", "Train | Departs | Platform", "R1 | 06:15 | 2", "R7 | 17:20 | 2", "R9 | 22:50 | 1")


@pytest.mark.parametrize(
    ("table", "question", "cells"),
    [
        (SERVERS, "Which server has the most memory?", ["zephyr"]),
        (SERVERS, "which server has the largest disk", ["zephyr"]),
        (SERVERS, "Which is the oldest server?", ["aither"]),
        (SERVERS, "who owns the server with the most memory?", ["Mia Roth"]),
        (SERVERS, "Which servers run Debian?", ["boreas", "notos", "aither"]),
        (SERVERS, "which servers don't run Debian", ["euros", "zephyr"]),
        (SERVERS, "which servers do not run Debian 12", ["notos", "euros", "zephyr"]),
        (SERVERS, "which servers are in hall 2?", ["boreas", "euros"]),
        (SERVERS, "Which servers in hall 1 run Debian 11?", ["notos"]),
        (SERVERS, "Which Debian server has the most memory?", ["notos"]),
        (SERVERS, "which servers have more than 50 GB of memory?", ["boreas", "notos", "zephyr"]),
        (SERVERS, "which servers have more than 0.1 TB of memory?", ["notos", "zephyr"]),
        (SERVERS, "which servers were installed before 2020?", ["notos", "aither"]),
        (SERVERS, "which servers were installed after 2020?", ["boreas", "euros"]),
        (SERVERS, "list the servers of Ines Kranz", ["boreas", "euros"]),
        (SERVERS, "what is the memory of boreas?", ["64"]),
        (EXAMS, "Which exams are written?", ["Maths"]),
        (EXAMS, "Which exam has the longest duration?", ["Maths"]),
        (VEHICLES, "Which vehicles have no 4 wheel drive?", ["Van 1"]),
        (VEHICLES, "Which vehicle has the largest fuel?", ["Truck 3"]),
        (DUTY, "which night doctor has room 8?", ["Weiss"]),
        (ROOMS, "Which rooms have no projector?", ["Birch", "Dogwood"]),
        (WORKTOPS, "Which worktops are out of stock?", ["W2", "W3"]),
        (READINGS, "what was the last blood pressure?", ["128/80"]),
        (READINGS, "what was the last pulse in 2023?", ["71"]),
        (WORKTOPS, "Which worktops are in stock?", ["W1"]),
        (ROOMS, "which rooms have a projector", ["Alder", "Cedar", "Elm"]),
        (ROOMS, "which rooms have a lift", ["Alder", "Birch", "Cedar", "Dogwood", "Elm"]),
        (ROOMS, "which rooms without a camera have a whiteboard", ["Alder"]),
        (ROOMS, "which rooms come without a projector", ["Birch", "Dogwood"]),
        (ROOMS, "which rooms on floor 3 have a projector?", ["Elm"]),
        (ROOMS, "which rooms have 12 seats?", ["Birch"]),
        (ROOMS, "which rooms have at least 12 seats?", ["Birch", "Cedar", "Elm"]),
        (ROOMS, "which room seats the most people?", ["Elm"]),
        (BOATS, "What is the heaviest boat?", ["Loon"]),
        (BOATS, "which boat weighs the least", ["Heron"]),
        (BOATS, "which boat is the newest", ["Petrel"]),
        (BOATS, "which boats cost more than €1,000?", ["Heron", "Petrel"]),
        (BOATS, "which boats are longer than 500 cm?", ["Merganser", "Loon"]),
        (BOATS, "what is the price of the heaviest boat?", ["€640"]),
        (BOATS, "What is the highest price?", ["€2,100"]),
        (STAFF, "who works the most hours?", ["Ada Lum"]),
        (STAFF, "who joined first?", ["Ada Lum"]),
        (STAFF, "Who lives in Oslo?", ["Ada Lum", "Cleo Strand"]),
        (STAFF, "which engineers work in Oslo", ["Ada Lum", "Cleo Strand"]),
        (STAFF, "which employees joined before 2016", ["Ada Lum"]),
        (STAFF, "which staff joined before 2016", ["Ada Lum"]),
        (STAFF, "which staff joined in 2022", ["Bo Riis"]),
        (NUMBERED_STAFF, "Which employees have band E7?", ["Stefan Ruprecht", "Jolanda Kreis"]),
        (NUMBERED_STAFF, "Who joined first?", ["Stefan Ruprecht"]),
        (NUMBERED_STAFF, "who is in HR?", ["Jolanda Kreis"]),
        (NUMBERED_STAFF, "who has staff no 1003?", ["Leonie Brandt"]),
        (NUMBERED_STAFF, "which employees have no E7?", ["Leonie Brandt"]),
        (ORDERS, "who has the highest total?", ["K-21"]),
        (ORDERS, "which orders are over 50 EUR?", ["7"]),
        (SERVERS, "which server owner has the most memory?", ["Mia Roth"]),
        (MEMBERS, "Which members are juniors?", ["Oliver Tan", "Ella Hart"]),
        (MEMBERS, "Who are the junior members?", ["Oliver Tan", "Ella Hart"]),
        (ROTA, "When is Ben Okafor on launch duty?", ["7 June 2026", "14 June 2026"]),
        (ROTA, "On which dates is Ben Okafor first aider?", ["13 June 2026"]),
        (STAFF, "When did Cleo Strand join?", ["2018-07-03"]),
        (INVOICES, "which invoices are unpaid?", ["R-102"]),
        (INVOICES, "what are the invoices of Hartmann?", ["R-101", "R-103"]),
        (INVOICES, "which invoices are over 400 EUR?", ["R-101", "R-102"]),
        (INVOICES, "which invoice is due the latest", ["R-102"]),
        (INVOICES, "which invoices are due in 2024", ["R-101", "R-102", "R-103"]),
        (TRIPS, "which trip was the longest?", ["Loon"]),
        (LOADS, "which is the heaviest load?", ["South"]),
        (DOGS, "which dog is the oldest?", ["Max"]),
        (BOOKS, "who borrowed Low Tide?", ["Omar"]),
        (EXPENSES, "which payee has the highest amount?", ["Piotr Nowak"]),
        (PAYMENTS, "which payee has the highest amount?", ["Piotr Nowak"]),
        (EXPENSES, "which payees have an amount over 10 EUR?", ["Piotr Nowak", "Baker"]),
        (EXPENSES, "which expenses are over 500 EUR?", ["2024-02-01"]),
        (SUBSCRIPTIONS, "which subscriptions cost more than 12 euros?", ["Gym"]),
        (SUBSCRIPTIONS, "which subscriptions are under $11?", ["Spotify"]),
        (RELEASES, "which version was released the latest?", ["3.10"]),
        (BEDS, "which beds have not paid?", ["A2"]),
        (HIKES, "which hike was the longest?", ["Ridge path"]),
        (RUNS, "which run had the lowest loss?", ["18"]),
        (TICKETS, "Which issues were assigned to Noor?", ["T-101", "T-103"]),
        (TICKETS, "which tasks are closed", ["T-102"]),
        (LUNCH, "who cooks on Thursday?", ["Carl"]),
        (LUNCH, "which dish is on Tues", ["Fish pie"]),
        (SIGNED, "which forms are due in April?", ["B7"]),
        (SIGNED, "which form is due in Mar?", ["A1"]),
        (RUNS, "which runs started before 5 May 2024?", ["17"]),
        (TRIALS, "Which country randomised the most patients?", ["Spain"]),
        (JOBS, "Which tickets are open?", ["T-1", "T-3"]),
        (JOBS, "list the open tickets", ["T-1", "T-3"]),
        (JOBS, "which tickets are not open?", ["T-2", "T-4", "T-5"]),
        (JOBS, "which tickets are in progress?", ["T-4"]),
        (JOBS, "which ticket has the most progress?", ["T-2"]),
        (JOBS, "which is the oldest open ticket?", ["T-1"]),
        (JOBS, "which high priority tickets are open?", ["T-1"]),
        (JOBS, "which tickets have low priority?", ["T-2", "T-3", "T-5"]),
        (JOBS, "what is the priority of T-4?", ["high"]),
        (JOBS, "who has open tickets?", ["Ana", "Ana"]),
        (JOBS, "which tickets are not assigned to Bo?", ["T-1", "T-3", "T-4"]),
        (JOBS, "which tickets were opened in April 2024?", ["T-3", "T-4", "T-5"]),
        (JOBS, "which open tickets were opened in March 2024?", ["T-1"]),
        (JOBS, "which ticket was opened on 2 March 2024?", ["T-2"]),
        (MACHINES, "which server has the most memory?", ["mike1"]),
        (MACHINES, "which servers run MariaDB?", ["mike1", "mike2"]),
        (MACHINES, "which servers run MariaDB 10?", ["mike2"]),
        (MACHINES, "which mail server has the most memory?", ["lima1"]),
        (MACHINES, "which database server has the least memory?", ["mike2"]),
        (MACHINES, "which hosts still run MariaDB 10?", ["mike2"]),
        (FURNITURE, "which chair has the highest price?", ["F2"]),
        (PAY, "which engineer has the highest salary?", ["Ida"]),
        (CASES, "which cases are still open?", ["C-7", "C-9"]),
        (CASES, "which cases are currently not open?", ["C-8"]),
        (REPAIRS, "which repairs are started?", ["roof", "door"]),
        (REPAIRS, "which repairs are not yet started?", ["wall"]),
        (CASES, "who is responsible for the leak?", ["Omar Bly"]),
        (CASES, "who reported case C-8?", ["Carl Juul"]),
        (CASES, "who approved C-9?", ["Jan Oss"]),
        (CASES, "who is the approver of C-7?", ["Lena Kahn"]),
        (CONTRACTS, "which contracts are managed by Tom Vik?", ["K-2"]),
        (CONTRACTS, "which contract ends first?", ["K-1"]),
        (BOXES, "which shelf holds box 369?", ["123"]),
        (BOXES, "what is the colour of box 12?", ["red"]),
        # What a verb measures, also in a column per year.
        (BOATS, "What does the Heron cost?", ["€1,250"]),
        (BOATS, "What did the Loon weigh?", ["31 kg"]),
        (FEES, "What does the Teal cost?", ["20"]),
        (BOATS, "What costs more than €1,000?", ["Heron", "Petrel"]),
        (PRICES, "What does a wash cost in 2024?", ["€4.00"]),
        (PRICES, "Which service was the cheapest in 2024?", ["Dry"]),
        (BARE_PRICES, "What did a wash cost in 2023?", ["3.50"]),
        # The other cell of a row that repeats the question.
        (SAW, "What is the operating pressure of the saw?", ["2.1 bar"]),
        # The opposite of what is compared: the young have a low age, the fast need little time.
        (CLUB, "who is older than 40?", ["Bob", "Cy"]),
        (CLUB, "who is younger than 40?", ["Ann"]),
        (CLUB, "who is the oldest?", ["Bob"]),
        (CLUB, "who is the newest?", ["Bob"]),
        (ROUTES, "which route is faster than 3 h?", ["train"]),
        # Totals are no items.
        (COSTS, "which item is the most expensive?", ["Food"]),
        (COSTS, "which items cost more than 500?", ["Food"]),
        (COSTS, "what is the cost of the total?", ["**1200**"]),
        (SALES, "which month had the highest total?", ["Jan"]),
        (TOPICS, "which topic is in week 4?", ["maps"]),
        (COURSES, "which courses start before 10 June 2024?", ["Judo", "Golf"]),
        (PUMPS, "which pumps in Bergen are down?", ["P2"]),
        (FOODS, "which foods are gluten-free?", ["Tofu"]),
        (FOODS, "which foods contain nuts?", ["Cake"]),
        # The opposite of a column.
        (FOODS, "which foods contain gluten?", ["Cake"]),
        (FOODS, "which foods do not contain gluten?", ["Tofu"]),
        (BILLS, "which bills are unpaid?", ["B2", "B3"]),
        (BILLS, "which unpaid bills have an amount over 80?", ["B2"]),
        # Only words that are the same, apart from the plural.
        (TEAM, "which developers live in Oslo?", ["Ana"]),
        (TEAM, "which developers joined after 2017?", ["Hal"]),
        (TEAM, "which designers joined after 2014?", ["Cid"]),
        (TEAM, "which members are not developers?", ["Ben", "Cid", "Dag"]),
        # The rows are about the persons in the first column, and not about their managers.
        (TEAM, "who joined before 2017?", ["Ana", "Cid"]),
        (TEAM, "who joined last?", ["Hal"]),
        (TEAM, "who is the manager of Ana?", ["Ben"]),
        (WAGES, "which employee has the highest salary in 2023?", ["Cem"]),
        (WAGES, "who has the highest salary?", ["Dee"]),
        # Nobody of whom another row says it.
        (CHORES, "who has no open tasks?", ["Ben"]),
        (CHORES, "which owners have no open tasks?", ["Ben"]),
        (HOTELS, "which hotel has the highest rating?", ["Bristol"]),
        (TRAINS, "which trains depart after 17:00?", ["R7", "R9"]),
        (FOODS, "which food has the most eggs?", ["Cake"]),
        (RECIPES, "which recipe is the longest?", ["Stew"]),
        (PATIENTS, "which patient is the latest?", ["Bob"]),
        (MENU, "what is the cheapest vegan dish?", ["Salad"]),
        # A noun with a superlative, without "which".
        (SERVERS, "server with the most memory", ["zephyr"]),
        (BOATS, "the heaviest boat?", ["Loon"]),
        (BOATS, "highest price", ["€2,100"]),
        (BEDS, "bed with the lowest price", ["A1"]),
        (GUIDES, "cheapest walk guide", ["Fenn"]),
        # What is ranked comes before the superlative.
        (BOATS, "For which model is the weight lowest?", ["Heron"]),
        (VEHICLES, "in which vehicle was the fuel tank largest?", ["Truck 3"]),
        (SERVERS, "Which server's memory is the largest?", ["zephyr"]),
        (GUIDES, "Whose walk is cheapest?", ["Fenn"]),
        # The name of a column looks like a bound.
        (CRATES, "which courier charges least up to 8 kg?", ["Rook"]),
        (CRATES, "cheapest courier for 3 kg", ["Jay"]),
        # Units, years and what follows a preposition are no part of what a column holds.
        (
            table("a.md", "Peak | Height above sea | Price", "Ulm | 900 | 4", "Rax | 700 | 5"),
            "which peak is tallest?",
            ["Ulm"],
        ),
        (
            table("a.md", "Board | Length m 2024 | Price", "Ulm | 9 | 4", "Rax | 7 | 5"),
            "which board is the longest?",
            ["Ulm"],
        ),
    ],
)
def test_rows_that_answer(table: WholeTable, question: str, cells: Sequence[str]) -> None:
    answer = select_rows(question, table)
    assert answer is not None
    assert [row.cells[answer.column] for row in answer.rows] == cells


@pytest.mark.parametrize(
    ("table", "question"),
    [
        # A word that the table does not explain.
        (SERVERS, "which server has the most cores?"),
        (SERVERS, "which servers run Fedora?"),
        (SERVERS, "which server has the second most memory?"),
        (BOATS, "which boat is the most comfortable?"),
        (BOATS, "which dinghy is the lightest?"),
        (BOATS, "the lightest dinghy"),
        (BOATS, "boat with the longest keel"),
        (BOATS, "is the Loon the heaviest boat?"),
        (CRATES, "which courier is cheapest up to 5 kg?"),
        # The floor is not what is ranked, nor is it a person who has a projector.
        (ROOMS, "which room on the floor is the largest?"),
        (ROOMS, "whose equipment is camera?"),
        (INVOICES, "which invoices of 2023 are paid?"),
        # The rows do not say it.
        (BOATS, "which is the heaviest and the oldest boat?"),
        (ROOMS, "which rooms have a projector or a camera?"),
        (BOATS, "why is the Loon the heaviest boat?"),
        (SERVERS, "how much memory does the largest server have?"),
        # Amounts of several rows would have to be added up, or it is unclear what is measured.
        (INVOICES, "which customer has the most amount?"),
        (INVOICES, "which is the longest invoice?"),
        (SERVERS, "which servers have more than 50?"),
        (SERVERS, "which servers have more than 50 kg of memory?"),
        # A word that is neither the column asked for nor excludes any rows.
        (SERVERS, "which is the oldest server's owner?"),
        (SERVERS, "Do all servers run Debian?"),
        # All rows have it.
        (SERVERS, "which servers have an owner?"),
        # Who pays rent need not have paid it, and who borrowed a book is not its author.
        (BEDS, "who pays the highest rent?"),
        (BOOKS, "which author borrowed a book"),
        (TICKETS, "which invoices were assigned to Noor?"),
        # "Yes" is not a person.
        (SIGNED, "who signed form A1?"),
        # Box 123 is not shelf 123.
        (BOXES, "which shelf holds box 123?"),
        # One of several persons may be meant.
        (CASES, "who has open cases?"),
        (CASES, "who is the tenant in C-7?"),
        (MACHINES, "which servers run Oracle?"),
        # No row is left.
        (ROOMS, "which rooms have more than 100 seats?"),
        (JOBS, "which tickets were opened in May 2024?"),
        (ROOMS, "which rooms are not"),
        (ROOMS, "which rooms"),
        (ROOMS, "which"),
        # The answer would be the words of the question.
        (OUTCOMES, "What was the primary outcome?"),
        (SAW, "What is the noise level of the saw?"),
        (ENVELOPES, "which envelope holds the salt fingerprint"),
        # A day doctor is no day.
        (DUTY, "which day is Marchetti the night doctor?"),
        # Of which year, and is it a price?
        (PRICES, "What does a wash cost?"),
        (PRICES, "What does a wash have in 2024?"),
        (BOATS, "What did not cost more than €1,000?"),
        (BOATS, "What does not cost €640?"),
        (USES, "What does a wash cost in 2024?"),
        # Words that compare, but not with an amount, and days without a year.
        (TOPICS, "which topics come before week 4?"),
        (TOPICS, "which topics come from 4?"),
        (COURSES, "which courses start after June?"),
        (COURSES, "which courses start by July 2024?"),
        (COURSES, "which courses start after 10 June?"),
        (COURSES, "which courses are after 9 am?"),
        (OUTINGS, "which outings are before 10 June 2024?"),
        (SERVERS, "which other servers run Debian?"),
        # Words without a meaning of their own that are values here.
        (OFFICES, "who in IT is remote?"),
        (OFFICES, "who has the highest salary in the US?"),
        (OFFICES, "who has the highest salary in the us?"),
        (TOURS, "which tours to Oslo are in may?"),
        (PUMPS, "which pumps in Bergen are up?"),
        # Hotels without free parking need not have any; and Ana has a task that is open, and one that is not.
        (HOTELS, "which hotels have parking?"),
        (CHORES, "who has tasks that are not open?"),
        # Cells that are neither yes nor no, or no amount.
        (DUES, "which members have paid?"),
        (DUES, "which members have not paid?"),
        (KIT, "which rooms have a projector?"),
        (SAMPLES, "which samples are not toxic?"),
        (SAMPLES, "which samples are in stock?"),
        (LESSONS, "which lesson is the cheapest?"),
        (LESSONS, "which lessons cost less than 10 EUR?"),
        # Another property.
        (FRIDGES, "which fridge has the longest warranty?"),
        (FRIDGES, "which fridges have a warranty until 2026?"),
        (LAKES, "which lake is the deepest?"),
        (BRIDGES, "which bridge is the highest?"),
        (BRIDGES, "which bridge is wider than 100 m?"),
        (TALKS, "which talk is the longest?"),
        (TALKS, "which talks last more than 1 h?"),
        (PATIENTS, "which patient is the youngest?"),
        (HIRE, "which bike is the cheapest?"),
        (CARS, "which car is the longest?"),
        (CARS, "which car is the cheapest?"),
        # The name of the folder is no value.
        (PAINTS, "What is the price of moss green paint?"),
        # Volume depletion is not a volume.
        (TRIALS, "Which trial was the smallest?"),
    ],
)
def test_questions_that_a_table_does_not_answer(table: WholeTable, question: str) -> None:
    assert select_rows(question, table) is None
